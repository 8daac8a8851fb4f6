#include "attention/formats/quote.h"
#include "attention/models/families/fields.h"

// Llama 4 (Meta 2025): rotated layers attend in chunks and norm their heads' queries and keys, layers without
// positions see all and sharpen with the position; experts read their input times the router's score.

namespace headscope::attention::families {
namespace {

constexpr TensorNames kLlama4Names = changed(kLlamaNames, [](TensorNames& names) {
  names.up = "feed_forward.up_proj";
  names.down = "feed_forward.down_proj";
  names.gate = "feed_forward.gate_proj";
  names.router = "feed_forward.router";
  names.expertGateBeforeUp = "feed_forward.experts.gate_up_proj";
  names.expertDown = "feed_forward.experts.down_proj";
  names.sharedUp = "feed_forward.shared_expert.up_proj";
  names.sharedDown = "feed_forward.shared_expert.down_proj";
  names.sharedGate = "feed_forward.shared_expert.gate_proj";
});

/// Chunks of the layers that layer_types names or, without it, of the rotated ones.
void readChunks(const ConfigReader& json, ModelConfig& config) {
  std::optional<Index> chunk;
  if (!json.isNull("attention_chunk_size")) chunk = json.size("attention_chunk_size", 8192, 1, kMaxPositions);
  const std::vector<std::string> kinds = json.texts("layer_types");
  if (!kinds.empty() && std::ssize(kinds) != config.layerCount())
    return json.refuse("layer_types", "a list of " + std::to_string(kinds.size()),
                       "one for each of the " + std::to_string(config.layerCount()) + " layers");
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const bool chunked = kinds.empty() ? chunk && config.layers[i].rotation : kinds[i] == "chunked_attention";
    if (!kinds.empty() && !chunked && kinds[i] != "full_attention")
      json.refuse("layer_types", quotedText(kinds[i]), "chunked_attention or full_attention");
    if (chunked && !chunk) json.refuse("attention_chunk_size", "null", "a whole number");
    if (chunked) config.layers[i].chunk = chunk;
  }
}

/// The router's sigmoid scores multiply what the experts read; an expert for every token is as wide as they.
void readExperts(const ConfigReader& json, ModelConfig& config) {
  readMixture(json, {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 16, .used = 1},
              config);
  Mixture& mixture = config.mixture;
  mixture.sigmoid = mixture.sharesInput = true;
  mixture.sharedDim = mixture.innerDim;
  config.innerDim = json.size("intermediate_size_mlp", 16384);
  const Index step = json.size("interleave_moe_layer_step", 1, 1, kMaxLayers);
  const std::vector<Index> listed = json.tokens("moe_layers");
  for (Index i = 0; i < config.layerCount(); ++i)
    config.layers[asSize(i)].mixture =
        json.has("moe_layers") ? std::ranges::find(listed, i) != listed.end() : (i + 1) % step == 0;
}

constexpr Family kLlama4{
    .name = "llama4_text",
    .architecture = "Llama4",
    .names = kLlama4Names,
    .tied = false,
    .fields = {.ignored = "router_jitter_noise for_llm_compressor", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(
              json, config,
              {.positions = 131072, .kvHeads = 8, .headDim = 128, .epsilon = 1e-5, .attentionBias = false},
              {.theta = 5e5});
          config.rotations[0].interleaved = true;
          readUnrotated(json, config);
          readChunks(json, config);
          readExperts(json, config);
          if (json.flag("use_qk_norm", true)) config.qkNorm = QkNorm::plain;
          config.rotatedFirst = true;
          // Old files have a number for it, which was only ever read as a yes.
          constexpr std::string_view kTunes = "attn_temperature_tuning";
          const bool number = json.differs(kTunes, "true") && json.differs(kTunes, "false");
          const bool tunes = number ? json.size(kTunes, 1, 0) > 0 : json.flag(kTunes, true);
          const double rate = json.positive("attn_scale", 0.1);
          const Index every = json.size("floor_scale", 8192, 1, kMaxPositions);
          if (tunes) config.queryGrowth = {.rate = rate, .every = every, .ahead = 1, .unrotated = true};
        },
};

constexpr Family kChunked[] = {kLlama4};

}  // namespace

std::span<const Family> chunked() {
  return kChunked;
}

}  // namespace headscope::attention::families
