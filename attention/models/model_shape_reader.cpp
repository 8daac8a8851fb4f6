#include "attention/models/model_shape_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"
#include "attention/formats/quote.h"
#include "attention/models/config_reader.h"
#include "attention/models/families.h"
#include "attention/models/model_config.h"

namespace headscope::attention {

namespace {

using Keys = std::initializer_list<const char*>;

/// Sizes by the names that architectures give them.
class SizeFinder {
 public:
  explicit SizeFinder(const ConfigReader& json) : json_(json) {}

  Index optional(Keys keys, Index standard = 0, Index most = kMaxConfigSize) const {
    for (const char* key : keys)
      if (json_.has(key)) return json_.size(key, {}, 0, most);
    return standard;
  }
  /// Remembers what it is where it is missing.
  Index needed(const char* what, Keys keys, Index most = kMaxConfigSize) {
    for (const char* key : keys)
      if (json_.has(key)) return json_.size(key, {}, 1, most);
    std::string names;
    for (auto key = keys.begin(); key != keys.end(); ++key)
      names += (key == keys.begin() ? "" : key + 1 == keys.end() ? " or " : ", ") + std::string(*key);
    missing_ += (missing_.empty() ? "" : "; ") + fmt::format("{} ({})", what, names);
    return 1;
  }
  /// The same where something usual stands in for it.
  Index assumed(const char* what, Keys keys, Index usual, Index most = kMaxConfigSize) {
    for (const char* key : keys)
      if (json_.has(key)) return json_.size(key, {}, 0, most);
    assumed_ += (assumed_.empty() ? "" : "; ") + fmt::format("{} (taken as {})", what, usual);
    return usual;
  }
  const std::string& missing() const { return missing_; }
  const std::string& assumed() const { return assumed_; }

 private:
  const ConfigReader& json_;
  std::string missing_, assumed_;
};

/// "llama" or "XForCausalLM", as the file calls it.
std::string architectureOf(const ConfigReader& json) {
  const std::string type = json.text("model_type", "");
  if (!type.empty()) return quotedText(type);
  const std::vector<std::string> names = json.texts("architectures");
  return names.empty() ? "without a model_type" : quotedText(names[0]);
}

bool isOneOf(const std::string& type, std::span<const std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// The family of that name; null where it isn't one that is computed with.
const Family* knownFamily(const std::string& type) {
  for (const Family* family : familyTable())
    if (family->name == type) return family;
  return nullptr;
}

/// What a file may leave out.
bool tiedByDefault(const std::string& type) {
  static constexpr std::string_view kTied[] = {"gpt_bigcode", "cohere", "bloom"};
  const Family* const family = knownFamily(type);
  return family ? family->tied : isOneOf(type, kTied);
}
bool gatedByDefault(const std::string& type) {
  static constexpr std::string_view kPlain[] = {
      "gpt2",       "gpt_bigcode", "bert",    "roberta", "distilbert", "opt",
      "gpt_neox",   "gptj",        "falcon",  "bloom",   "mpt",        "gpt_neo",
      "starcoder2", "phi",         "codegen", "electra", "nemotron"};
  return !isOneOf(type, kPlain);
}
bool encodes(const std::string& type) {
  static constexpr std::string_view kEncoders[] = {"bert",   "roberta",    "distilbert", "electra",
                                                   "albert", "modernbert", "deberta-v2", "xlm-roberta"};
  return isOneOf(type, kEncoders);
}

void readExperts(const SizeFinder& sizes, ModelShape& shape) {
  shape.experts = sizes.optional({"num_local_experts", "num_experts", "n_routed_experts"});
  if (shape.experts <= 1) {
    shape.experts = 0;
    return;
  }
  shape.activeExperts = sizes.optional({"num_experts_per_tok", "num_selected_experts", "moe_top_k"}, 1);
  shape.expertDim = sizes.optional({"moe_intermediate_size", "expert_dim"}, shape.innerDim);
  shape.sharedExperts = sizes.optional({"n_shared_experts", "num_shared_experts"});
  shape.denseLayers = std::min(sizes.optional({"first_k_dense_replace"}), shape.layers);
}

void readLatent(const SizeFinder& sizes, ModelShape& shape) {
  shape.latentDim = sizes.optional({"kv_lora_rank"});
  if (shape.latentDim == 0) return;
  shape.ropeDim = sizes.optional({"qk_rope_head_dim"}, 64);
  shape.queryLatent = sizes.optional({"q_lora_rank"});
  shape.headDim = sizes.optional({"qk_nope_head_dim"}, 128);
  shape.valueDim = sizes.optional({"v_head_dim"}, 128);
}

/// Windows: said layer by layer, or for all.
void readWindow(const ConfigReader& json, const SizeFinder& sizes, ModelShape& shape) {
  const std::vector<std::string> types = json.texts("layer_types");
  const bool off = json.has("use_sliding_window") && !json.flag("use_sliding_window", false);
  shape.window = off ? 0 : sizes.optional({"sliding_window", "attention_window_size"}, 0, kMaxPositions);
  if (shape.window == 0 || types.empty()) return;
  shape.globalLayers =
      std::min<Index>(shape.layers, std::count(types.begin(), types.end(), std::string("full_attention")));
  if (shape.globalLayers == shape.layers) shape.window = shape.globalLayers = 0;
}

/// Any other, by the usual names.
ModelShape usualShape(const ConfigReader& json, SizeFinder& sizes, const std::string& type) {
  ModelShape shape;
  shape.layers =
      sizes.needed("layers", {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, kMaxLayers);
  shape.modelDim = sizes.needed("the model's size", {"hidden_size", "n_embd", "d_model"});
  shape.heads = sizes.needed("heads", {"num_attention_heads", "n_head", "n_heads", "num_heads"});
  const bool multiQuery = json.has("multi_query") && json.flag("multi_query", false);
  shape.kvHeads =
      sizes.optional({"num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"},
                     multiQuery ? 1 : shape.heads);
  shape.headDim = sizes.optional({"head_dim", "attention_head_dim", "kv_channels"},
                                 std::max<Index>(1, shape.modelDim / std::max<Index>(shape.heads, 1)));
  shape.context = sizes.assumed(
      "the longest text", {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"},
      2048, kMaxPositions);
  shape.contextKnown = sizes.assumed().empty();
  shape.innerDim = sizes.assumed("the feed-forward width",
                                 {"intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size"},
                                 std::min(4 * shape.modelDim, kMaxConfigSize));
  shape.gated = gatedByDefault(type);
  shape.vocabulary = sizes.optional({"vocab_size", "padded_vocab_size"}, 0, kMaxPositions);
  shape.decodes = !encodes(type);
  readLatent(sizes, shape);
  readExperts(sizes, shape);
  readWindow(json, sizes, shape);
  return shape;
}

}  // namespace

ModelShape shapeOf(const ModelConfig& config) {
  ModelShape shape;
  shape.layers = config.layerCount();
  shape.modelDim = config.modelDim;
  shape.heads = config.heads;
  shape.kvHeads = config.kvHeads;
  shape.headDim = config.headDim;
  shape.context = config.maxPositions;
  shape.decodes = config.causal;
  shape.innerDim = config.innerDim;
  shape.gated = config.gated;
  shape.vocabulary = config.vocabulary;
  shape.positions = config.positionRows;
  for (const LayerKind& layer : config.layers) {
    shape.globalLayers += !layer.window;
    if (layer.window) shape.window = config.causal ? *layer.window : 2 * *layer.window - 1;
  }
  if (shape.window == 0) shape.globalLayers = 0;
  return shape;
}

Result<ModelShape> readModelShape(std::string_view text, const std::string& name) {
  const auto root = ConfigReader::parse(text, name);
  if (!root) return root.error();
  const bool nested = root->has("text_config") && !root->has("num_hidden_layers");
  const ConfigReader json = nested ? root->object("text_config") : *root;
  const std::string type = json.text("model_type", root->text("model_type", ""));
  ModelShape shape;
  if (const auto config = readModelConfig(text, name)) {
    shape = shapeOf(*config);
  } else {
    SizeFinder sizes(json);
    shape = usualShape(json, sizes, type);
    if (!sizes.missing().empty())
      return Error{fmt::format(
          "{}: {}it lacks {}", name,
          knownFamily(type) ? ""
                            : fmt::format("the architecture {} is not known, and ", architectureOf(*root)),
          sizes.missing())};
    if (!sizes.assumed().empty()) shape.source = "config.json, which does not say " + sizes.assumed();
  }
  shape.tied = root->flag("tie_word_embeddings", json.flag("tie_word_embeddings", tiedByDefault(type)));
  shape.name = name;
  if (shape.source.empty()) shape.source = "config.json";
  if (const Status status = root->status(); !status) return status.error();
  if (const Status status = validate(shape); !status) return Error{name + ": " + status.error().message};
  return shape;
}

Result<ModelShape> readModelShape(const std::filesystem::path& path) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
  const auto bytes = readFile(path, kMostBytes);
  if (!bytes) return bytes.error();
  auto shape = readModelShape({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                              shownPath(path.filename()));
  if (!shape) return shape;
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(path, ignored).parent_path().filename();
  if (path.filename() == "config.json" && !folder.empty()) shape->name = shownPath(folder);
  return shape;
}

}  // namespace headscope::attention
