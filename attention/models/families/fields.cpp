#include "attention/models/families/fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attention/formats/quote.h"

namespace headscope::attention::families {
namespace {

float inverseRoot(Index size) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
}

/// Long-context tables of Phi-3: a factor for each frequency, one list for short texts and one for long.
void readLongRope(const ConfigReader& json, const ConfigReader& rope, const ModelConfig& config,
                  Rotation& rotation) {
  const Index most = config.maxPositions;
  const ConfigReader& place = json.has("original_max_position_embeddings") ? json : rope;
  const Index original = place.size("original_max_position_embeddings", most, 2, kMaxPositions);
  const auto shortFactors = rope.positives("short_factor", rotation.dims / 2);
  const auto longFactors = rope.positives("long_factor", rotation.dims / 2);
  rotation.longFrequencies = rotation.frequencies;
  for (std::size_t t = 0; t < rotation.frequencies.size(); ++t) {
    rotation.frequencies[t] /= shortFactors[t];
    rotation.longFrequencies[t] /= longFactors[t];
  }
  rotation.longBeyond = original;
  const double stretch = static_cast<double>(most) / static_cast<double>(original);
  const double amplitude =
      stretch <= 1 ? 1 : std::sqrt(1 + std::log(stretch) / std::log(static_cast<double>(original)));
  rotation.amplitude = rope.positive("attention_factor", amplitude);
}

}  // namespace

Index evenShare(const ConfigReader& json, std::string_view whole, Index size, std::string_view parts,
                Index count) {
  if (size % count != 0)
    json.refuse(whole, std::to_string(size), fmt::format("a multiple of {} ({})", parts, count));
  return std::max<Index>(size / count, 1);
}

void addLayers(ModelConfig& config, Index count) {
  config.layers.assign(static_cast<std::size_t>(count), {.scale = inverseRoot(config.headDim)});
}

void readLlamaSizes(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults) {
  config.modelDim = json.size("hidden_size");
  config.innerDim = json.size("intermediate_size");
  config.vocabulary = json.size("vocab_size", defaults.vocabulary);
  config.heads = json.size("num_attention_heads", defaults.heads);
  config.kvHeads = json.size("num_key_value_heads", defaults.kvHeads.value_or(config.heads));
  config.headDim = json.has("head_dim") || defaults.headDim
                       ? json.size("head_dim", defaults.headDim)
                       : evenShare(json, "hidden_size", config.modelDim, "num_attention_heads", config.heads);
  config.maxPositions = json.size("max_position_embeddings", 2048, 1, kMaxPositions);
  config.activation = readActivation(json, "hidden_act", "silu");
  config.epsilon = json.positive("rms_norm_eps", 1e-6);
  config.norm = NormKind::rms;
  config.gated = true;
  addLayers(config, json.size("num_hidden_layers", {}, 1, kMaxLayers));
}

Activation readActivation(const ConfigReader& json, std::string_view key, std::string_view standard) {
  static constexpr std::pair<std::string_view, Activation> kNames[] = {
      {"gelu", Activation::gelu},
      {"gelu_new", Activation::geluTanh},
      {"gelu_pytorch_tanh", Activation::geluTanh},
      {"gelu_fast", Activation::geluTanh},
      {"silu", Activation::silu},
      {"swish", Activation::silu},
      {"relu", Activation::relu}};
  const std::string name = json.text(key, standard);
  std::string known;
  for (const auto& [each, activation] : kNames) {
    if (each == name) return activation;
    known += (known.empty() ? "" : ", ") + std::string(each);
  }
  json.refuse(key, quotedText(name), "one of " + known);
  return Activation::gelu;
}

Rotation rotationOf(const ConfigReader& json, const ConfigReader& rope, double theta, double partial,
                    const ModelConfig& config) {
  theta = rope.positive("rope_theta", theta);
  partial = rope.positive("partial_rotary_factor", partial);
  if (partial > 1) rope.refuse("partial_rotary_factor", fmt::format("{}", partial), "at most 1");
  Rotation rotation;
  rotation.dims = static_cast<Index>(static_cast<double>(config.headDim) * std::min(partial, 1.0));
  if (rotation.dims < 2 || rotation.dims % 2 != 0)
    json.fail(
        fmt::format("{}: {} of a head's {} dimensions are to be rotated, expected an even number from 2",
                    json.at("rope"), rotation.dims, config.headDim));
  rotation.frequencies = ropeFrequencies(rotation.dims, theta);

  const std::string_view key = rope.has("rope_type") ? "rope_type" : "type";
  const std::string type = rope.text(key, "default");
  const bool phi = config.family == &phi3;
  if (type == "linear") {
    for (double& frequency : rotation.frequencies) frequency /= rope.positive("factor");
  } else if (type == "llama3") {
    const Llama3Scaling scaling{
        rope.positive("factor"), rope.positive("low_freq_factor"), rope.positive("high_freq_factor"),
        static_cast<double>(rope.size("original_max_position_embeddings", {}, 1, kMaxPositions))};
    if (scaling.highFactor <= scaling.lowFactor)
      rope.refuse("high_freq_factor", fmt::format("{}", scaling.highFactor), "above low_freq_factor");
    rotation.frequencies = stretched(std::move(rotation.frequencies), scaling);
  } else if (type == "longrope" || (phi && (type == "su" || type == "yarn"))) {
    readLongRope(json, rope, config, rotation);
  } else if (type != "default") {
    rope.refuse(key, quotedText(type), "one of default, linear, llama3, longrope");
  }
  return rotation;
}

void readRotation(const ConfigReader& json, const RopeDefaults& defaults, ModelConfig& config) {
  const ConfigReader rope = json.object(json.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  config.rotations = {rotationOf(json, rope, json.positive(defaults.thetaKey, defaults.theta),
                                 json.positive(defaults.partialKey, defaults.partial), config)};
  for (LayerKind& layer : config.layers) layer.rotation = 0;
}

void readWindows(const ConfigReader& json, std::optional<Index> window,
                 bool (*standard)(Index layer, Index of), Index of, ModelConfig& config) {
  const std::vector<std::string> types = json.texts("layer_types");
  if (!types.empty() && std::ssize(types) != config.layerCount()) {
    json.refuse("layer_types", fmt::format("a list of {}", types.size()),
                fmt::format("one for each of the {} layers", config.layerCount()));
    return;
  }
  for (Index i = 0; i < config.layerCount(); ++i) {
    bool slides =
        !types.empty() ? types[static_cast<std::size_t>(i)] == "sliding_attention" : standard(i, of);
    if (!types.empty() && !slides && types[static_cast<std::size_t>(i)] != "full_attention")
      json.refuse("layer_types", quotedText(types[static_cast<std::size_t>(i)]),
                  "sliding_attention or full_attention");
    if (slides && !types.empty() && !window)
      json.refuse("sliding_window", "absent", "a whole number, since layer_types has sliding_attention");
    if (slides) config.layers[static_cast<std::size_t>(i)].window = window;
  }
}

void readQwenWindows(const ConfigReader& json, ModelConfig& config) {
  if (!json.flag("use_sliding_window", false)) return;
  readWindows(
      json, json.size("sliding_window", 4096, 1, kMaxPositions),
      [](Index layer, Index first) { return layer >= first; },
      json.size("max_window_layers", 28, 0, kMaxLayers), config);
}

}  // namespace headscope::attention::families
