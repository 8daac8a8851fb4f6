#pragma once

#include "attention/cache/model_cost.h"
#include "attention/models/config/config_reader.h"

namespace headscope::attention {

using NameList = std::vector<const char*>;
using Keys = const NameList&;

/// Looks up sizes under the names that architectures use for them.
class SizeFinder {
 public:
  explicit SizeFinder(const ConfigReader& json) : json_(json) {}

  /// Every key counts as read: a file that has several says the same with each.
  Index optional(Keys keys, Index defaultValue = 0, Index most = kMaxConfigSize) const;
  /// If no key is present, adds `what` to missing() and returns 1.
  Index needed(const char* what, Keys keys, Index most = kMaxConfigSize);
  /// If no key is present, adds `what` to assumed() and returns `usual`.
  Index assumed(const char* what, Keys keys, Index usual, Index most = kMaxConfigSize);
  const std::string& missing() const { return missing_; }
  const std::string& assumed() const { return assumed_; }

 private:
  const char* first(Keys keys) const;
  /// A list with the same number for each layer counts as that number.
  Index sizeOf(const char* key, Index least, Index most) const;
  const ConfigReader& json_;
  std::string missing_, assumed_;
};

/// What a model_type implies beyond the fields of its config.json.
struct ModelType {
  std::string_view name;
  /// Words: plain (two feed-forward matrices), tied (the head is the embedding table unless the file says
  /// otherwise), positions (learned), encoder, pooler (its own, or a head's d × d map), dense (such a map,
  /// but only in a class with a head), biases, 4d (the feed-forward part is 4 · modelDim wide unless the file
  /// says otherwise), t5 (an encoder–decoder with T5's fields), parallel (each layer has both an attention
  /// and a recurrent part), twice (num_layers counts pairs of layers with one mixture), repeated (layers
  /// share weights), memory (caches hidden states), waves (convolutions before the first layer).
  std::string_view traits = {};
  /// JSON defaults for fields that a file may leave out, from the type's published code.
  std::string_view defaults = "{}";
};

/// Returns null if the type isn't known.
const ModelType* findModelType(std::string_view name);
bool hasTrait(const ModelType* type, std::string_view trait);

/// The class that saved a model, such as "BertForMaskedLM"; "" if the file doesn't say.
std::string classOf(const ConfigReader& json);

/// The number of layers whose weights are stored: fewer in ALBERT, where several layers use the same.
Index storedLayers(const ConfigReader& json, const ModelType* type, Index layers);

/// Returns the rows of a shape's tables of learned positions. `shape` has its layers.
Index positionRows(const ConfigReader& json, const ModelType* type, const ModelShape& shape);

/// Returns the parameters of norms, biases, heads and whatever else a type has besides the matrices of its
/// layers and its embedding. `shape` has its layers and positions.
std::uint64_t otherParameters(const ConfigReader& json, const ModelType* type, const ModelShape& shape);

/// Reads how the weights of a config.json are stored, from quantization_config or MLX's quantization, else
/// from torch_dtype, into shape.weights. Reads shape.experts. An unknown method becomes a note. How that note
/// ends, before the format in which weights are counted.
inline constexpr std::string_view kCountedInstead = ": weights are counted in ";
void readWeightFormat(const ConfigReader& root, const ConfigReader& json, ModelShape& shape);

/// The parts of one layer.
struct PlannedLayer {
  enum class Inner { none, dense, experts };
  CacheKind mixer = CacheKind::full;
  Inner inner = Inner::dense;  ///< the feed-forward part
  // Sizes of this layer, where they differ from the model's; 0 = they don't.
  Index kvHeads = 0, span = 0, innerDim = 0;
  bool linear = false;  ///< a modelDim × modelDim matrix instead of attention
};

/// Returns the layers that a config.json describes, first to last, and which of them have experts. Reads
/// layer_types, hybrid_override_pattern, block_types, attn_layer_period and _offset, full_attention_interval,
/// sliding_window_pattern, layer_switch, no_rope_layers and similar fields. Records values it doesn't
/// understand as an error in `json`'s status.
std::vector<PlannedLayer> planLayers(const ConfigReader& json, const ModelType* type, Index layers,
                                     bool experts);
/// Returns the layers of `block_configs`, in which NVIDIA's Nemotron gives each its own sizes (Bercovich et
/// al. 2024, Puzzle).
std::vector<PlannedLayer> planBlocks(const ConfigReader& json, Index layers, Index heads, Index modelDim);
/// Returns the kv heads of each layer where the file lists them; else nothing.
std::vector<Index> kvHeadsByLayer(const ConfigReader& json, Index layers);
/// Returns the tokens of the model's windows or chunks; 0: it has none.
Index spanOf(const ConfigReader& json, const ModelType* type);

/// Returns the state and matrices of a recurrent layer. Refuses a type whose recurrent layers aren't known.
LayerGroup recurrentLayer(const ConfigReader& json, const ModelType* type, Index modelDim);

}  // namespace headscope::attention
