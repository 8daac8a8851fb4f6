#include "attention/models/families/fields.h"

#include <fmt/core.h>

#include <cmath>

#include "attention/formats/quote.h"

namespace headscope::attention::families {

constinit const ConfigFields kLlamaFields{
    .ignored = "is_llama_config original_max_position_embeddings",
    .fixed = "rope_interleaved=false use_mrope=false",
    .base = &kSharedFields,
};

namespace {

float inverseRoot(Index size) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
}

/// The context length before it was stretched; if the file doesn't say, max_position_embeddings. Phi-3's is
/// at the top level (Phi3Config and standardize_rope_params of transformers).
Index originalPositions(const ConfigReader& json, const ConfigReader& rope, const ModelConfig& config) {
  constexpr std::string_view kField = "original_max_position_embeddings";
  if (config.family == &phi3) return json.size(kField, 4096, 2, kMaxPositions);
  return rope.size(kField, std::max<Index>(config.maxPositions, 2), 2, kMaxPositions);
}

/// The factor by which the context was stretched: as stated, or else the ratio of its lengths. Notes two
/// figures that contradict each other; equal lengths only mean that the new one wasn't entered.
double stretchOf(const ConfigReader& rope, Index original, ModelConfig& config) {
  const double ratio = static_cast<double>(config.maxPositions) / static_cast<double>(original);
  const double factor = rope.positive("factor", ratio);
  if (std::abs(factor - ratio) > 1e-6 * ratio && config.maxPositions != original)
    config.notes.push_back(
        fmt::format("config.json's {} is {}, and max_position_embeddings over "
                    "original_max_position_embeddings is {:.5g}: "
                    "the factor counts, as in transformers.",
                    rope.path("factor"), factor, ratio));
  return factor;
}

/// LongRoPE (Ding et al. 2024), as in Phi-3's long-context models: a factor per frequency, in one list for
/// texts up to the original length and one for longer texts.
void readLongRope(const ConfigReader& rope, Index original, ModelConfig& config, Rotation& rotation) {
  const auto shortFactors = rope.numbers("short_factor", rotation.dims / 2, true);
  const auto longFactors = rope.numbers("long_factor", rotation.dims / 2, true);
  rotation.longFrequencies = rotation.frequencies;
  for (std::size_t t = 0; t < rotation.frequencies.size(); ++t) {
    rotation.frequencies[t] /= shortFactors[t];
    rotation.longFrequencies[t] /= longFactors[t];
  }
  rotation.longBeyond = original;
  const double stretch = stretchOf(rope, original, config);
  const double amplitude =
      stretch <= 1 ? 1 : std::sqrt(1 + std::log(stretch) / std::log(static_cast<double>(original)));
  rotation.amplitude = rope.positive("attention_factor", amplitude);
}

void readYarn(const ConfigReader& rope, Index original, double theta, ModelConfig& config,
              Rotation& rotation) {
  if (!rope.has("factor") && !rope.has("original_max_position_embeddings"))
    rope.refuse("factor", "absent", "a finite number above 0");
  const double factor = stretchOf(rope, original, config);
  const YarnScaling scaling{factor, rope.positive("beta_fast", 32), rope.positive("beta_slow", 1),
                            static_cast<double>(original), rope.flag("truncate", true)};
  rotation.frequencies = stretched(std::move(rotation.frequencies), theta, scaling);
  const auto unlessZero = [&](std::string_view key) {
    return rope.differs(key, "0") ? rope.optionalPositive(key) : std::nullopt;
  };
  const auto ofTurned = unlessZero("mscale"), ofAll = unlessZero("mscale_all_dim");
  const double sharpness = ofTurned && ofAll
                               ? yarnAttentionFactor(factor, *ofTurned) / yarnAttentionFactor(factor, *ofAll)
                               : yarnAttentionFactor(factor);
  rotation.amplitude = rope.positive("attention_factor", sharpness);
}

/// The share of a head that is rotated according to the top level, for families that may rotate a part.
std::optional<double> partialOf(const ConfigReader& json, const RopeDefaults& defaults) {
  if (defaults.partial) return json.positive(defaults.partialKey, *defaults.partial);
  json.expect(defaults.partialKey, "1");
  return std::nullopt;
}

}  // namespace

void readStartToken(const ConfigReader& json, Index defaultValue, ModelConfig& config) {
  config.startToken = json.size("decoder_start_token_id", defaultValue, 0);
  if (config.startToken >= config.vocabulary)
    json.refuse("decoder_start_token_id", std::to_string(config.startToken), "a token of the vocabulary");
}

Index evenShare(const ConfigReader& json, std::string_view whole, Index size, std::string_view parts,
                Index count) {
  if (size % count != 0)
    json.refuse(whole, std::to_string(size), fmt::format("a multiple of {} ({})", parts, count));
  return std::max<Index>(size / count, 1);
}

void addLayers(ModelConfig& config, Index count) {
  config.layers.assign(asSize(count), {.scale = inverseRoot(config.headDim)});
}

void readSizes(const ConfigReader& json, const SizeFields& fields, ModelConfig& config) {
  config.modelDim = json.size(fields.width, fields.usualWidth);
  config.vocabulary = json.size("vocab_size", fields.vocabulary);
  config.heads = config.kvHeads = json.size(fields.heads, fields.usualHeads);
  config.headDim = evenShare(json, fields.width, config.modelDim, fields.heads, config.heads);
  addLayers(config, json.size(fields.layers, fields.usualLayers, 1, kMaxLayers));
}

void readLlamaSizes(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults) {
  config.modelDim = json.size("hidden_size");
  config.innerDim = json.size("intermediate_size");
  config.vocabulary = json.size("vocab_size", defaults.vocabulary);
  config.heads = json.size("num_attention_heads", defaults.heads);
  const Index kvHeads =
      json.isNull("num_key_value_heads") ? config.heads : defaults.kvHeads.value_or(config.heads);
  config.kvHeads = json.size("num_key_value_heads", kvHeads);
  config.headDim = json.has("head_dim") || defaults.headDim
                       ? json.size("head_dim", defaults.headDim)
                       : evenShare(json, "hidden_size", config.modelDim, "num_attention_heads", config.heads);
  config.maxPositions = json.size("max_position_embeddings", defaults.positions, 1, kMaxPositions);
  config.activation = readActivation(json, "hidden_act", defaults.activation);
  config.epsilon = json.positive("rms_norm_eps", defaults.epsilon);
  if (defaults.attentionBias)
    config.qkvBias = config.outputBias = json.flag("attention_bias", *defaults.attentionBias);
  config.norm = NormKind::rms;
  config.gated = true;
  addLayers(config, json.size("num_hidden_layers", {}, 1, kMaxLayers));
}

Activation readActivation(const ConfigReader& json, std::string_view key, std::string_view defaultValue) {
  static constexpr std::pair<std::string_view, Activation> kNames[] = {
      {"gelu", Activation::gelu},          {"gelu_python", Activation::gelu},
      {"gelu_new", Activation::geluTanh},  {"gelu_pytorch_tanh", Activation::geluTanh},
      {"gelu_fast", Activation::geluTanh}, {"quick_gelu", Activation::quickGelu},
      {"silu", Activation::silu},          {"swish", Activation::silu},
      {"relu", Activation::relu},          {"relu2", Activation::reluSquared},
      {"tanh", Activation::tanh},          {"mish", Activation::mish}};
  const std::string name = json.text(key, defaultValue);
  if (name == "xielu" && name == defaultValue) return Activation::xielu;
  std::string known;
  for (const auto& [each, activation] : kNames) {
    if (each == name) return activation;
    known += (known.empty() ? "" : ", ") + std::string(each);
  }
  json.refuse(key, quotedText(name), "one of " + known);
  return Activation::gelu;
}

Rotation rotationOf(const ConfigReader& json, const ConfigReader& rope, double theta,
                    std::optional<double> partial, ModelConfig& config) {
  theta = rope.positive("rope_theta", theta);
  constexpr std::string_view kPartial = "partial_rotary_factor";
  if (!partial) rope.expect(kPartial, "1");
  const double share = rope.positive(kPartial, partial.value_or(1));
  if (share > 1) rope.refuse(kPartial, fmt::format("{}", share), "at most 1");
  Rotation rotation;
  rotation.dims = static_cast<Index>(static_cast<double>(config.headDim) * std::min(share, 1.0));
  if (rotation.dims < 2 || rotation.dims % 2 != 0)
    json.fail(
        fmt::format("{}: {} of a head's {} dimensions are to be rotated, expected an even number from 2",
                    json.at("rope"), rotation.dims, config.headDim));
  rotation.frequencies = ropeFrequencies(rotation.dims, theta);

  const std::string_view key = rope.has("rope_type") ? "rope_type" : "type";
  const std::string type = rope.text(key, "default");
  const bool phi = config.family == &phi3;
  const Index original = originalPositions(json, rope, config);
  if (config.family == &ministral3)
    config.queryGrowth = {rope.optionalPositive("llama_4_scaling_beta").value_or(0), original};
  else
    rope.expect("llama_4_scaling_beta", "null");
  if (type == "linear") {
    for (double& frequency : rotation.frequencies) frequency /= rope.positive("factor");
  } else if (type == "llama3") {
    const Llama3Scaling scaling{rope.positive("factor"), rope.positive("low_freq_factor"),
                                rope.positive("high_freq_factor"), static_cast<double>(original)};
    if (scaling.highFactor <= scaling.lowFactor)
      rope.refuse("high_freq_factor", fmt::format("{}", scaling.highFactor), "above low_freq_factor");
    rotation.frequencies = stretched(std::move(rotation.frequencies), scaling);
  } else if (type == "longrope" || (phi && (type == "su" || type == "yarn"))) {
    readLongRope(rope, original, config, rotation);
  } else if (type == "yarn") {
    readYarn(rope, original, theta, config, rotation);
  } else if (type == "dynamic") {
    rotation.dynamic = {rope.positive("factor"), theta};
    rotation.longBeyond = config.maxPositions;
  } else if (type != "default" && (type != "mrope" || !rope.isList("mrope_section"))) {
    rope.refuse(key, quotedText(type), "one of default, linear, dynamic, llama3, longrope, yarn");
  }
  return rotation;
}

ConfigReader ropeOf(const ConfigReader& json) {
  const ConfigReader scaling = json.object("rope_scaling");
  return scaling.names().empty() ? json.object("rope_parameters") : scaling;
}

void readRotation(const ConfigReader& json, const RopeDefaults& defaults, ModelConfig& config) {
  if (!json.object("rope_scaling").names().empty() && !json.object("rope_parameters").names().empty())
    config.notes.emplace_back(
        "config.json has both rope_scaling and rope_parameters: rope_scaling counts, as in transformers.");
  config.rotations = {rotationOf(json, ropeOf(json), json.positive(defaults.thetaKey, defaults.theta),
                                 partialOf(json, defaults), config)};
  for (LayerKind& layer : config.layers) layer.rotation = 0;
}

void addRope(const ConfigReader& json, std::string_view rope) {
  if (json.has("rope_parameters") || !json.object("rope_scaling").names().empty()) return;
  // A default doesn't replace a null.
  const bool old = json.isNull("rope_parameters");
  if (old && (json.isNull("rope_scaling") || json.has("rope_scaling")))
    return json.refuse("rope_parameters", "null", "an object, or no such field");
  ConfigReader file = json;
  file.addDefaults(fmt::format(R"({{"{}": {}}})", old ? "rope_scaling" : "rope_parameters", rope));
}

void readLlama(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults,
               const RopeDefaults& rope) {
  readLlamaSizes(json, config, defaults);
  readRotation(json, rope, config);
}

void readRotations(const ConfigReader& json, const RopeDefaults& defaults, double local,
                   ModelConfig& config) {
  const double global = json.positive(defaults.thetaKey, defaults.theta);
  const std::optional<double> partial = partialOf(json, defaults);
  const ConfigReader nested = json.object("rope_parameters");
  const ConfigReader full = nested.object("full_attention"), sliding = nested.object("sliding_attention");
  if (full.names().empty() && sliding.names().empty())
    readRotation(json, defaults, config);
  else
    config.rotations = {rotationOf(json, json.has("rope_scaling") ? json.object("rope_scaling") : full,
                                   full.positive("rope_theta", global), partial, config)};
  config.rotations.push_back(rotationOf(json, sliding, local, partial, config));
  for (LayerKind& layer : config.layers) layer.rotation = layer.window ? 1 : 0;
}

std::optional<Index> readWindow(const ConfigReader& json, Index defaultValue, Index low) {
  if (json.isNull("sliding_window")) return std::nullopt;
  return json.size("sliding_window", defaultValue, low, kMaxPositions);
}

void readOptionalWindow(const ConfigReader& json, ModelConfig& config) {
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  for (LayerKind& layer : config.layers) layer.window = window;
}

void readWindows(const ConfigReader& json, std::optional<Index> window,
                 bool (*defaultValue)(Index layer, Index of), Index of, ModelConfig& config) {
  const std::vector<std::string> types = json.texts("layer_types");
  if (!types.empty() && std::ssize(types) != config.layerCount()) {
    json.refuse("layer_types", fmt::format("a list of {}", types.size()),
                fmt::format("one for each of the {} layers", config.layerCount()));
    return;
  }
  for (Index i = 0; i < config.layerCount(); ++i) {
    bool slides = !types.empty() ? types[asSize(i)] == "sliding_attention" : defaultValue(i, of);
    if (!types.empty() && !slides && types[asSize(i)] != "full_attention")
      json.refuse("layer_types", quotedText(types[asSize(i)]), "sliding_attention or full_attention");
    if (slides && !window)
      json.refuse(types.empty() ? "sliding_window" : "layer_types",
                  types.empty() ? "null" : "a list with sliding_attention",
                  types.empty() ? "a whole number" : "only full_attention, since no sliding_window is set");
    if (slides) config.layers[asSize(i)].window = window;
  }
}

void readUnrotated(const ConfigReader& json, ModelConfig& config) {
  const Index interval = json.size("no_rope_layer_interval", 4, 1, kMaxLayers);
  const std::vector<Index> said = json.tokens("no_rope_layers");
  if (!said.empty() && std::ssize(said) != config.layerCount())
    return json.refuse("no_rope_layers", fmt::format("a list of {}", said.size()),
                       fmt::format("one for each of the {} layers", config.layerCount()));
  for (Index i = 0; i < config.layerCount(); ++i) {
    const auto at = asSize(i);
    if (said.empty() ? (i + 1) % interval == 0 : said[at] == 0) config.layers[at].rotation.reset();
  }
}

void readMlpLayerTypes(const ConfigReader& json, ModelConfig& config) {
  const std::vector<std::string> kinds = json.texts("mlp_layer_types");
  if (kinds.empty()) return;
  if (std::ssize(kinds) != config.layerCount())
    return json.refuse("mlp_layer_types", "a list of " + std::to_string(kinds.size()),
                       "one for each of the " + std::to_string(config.layerCount()) + " layers");
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != "dense" && kinds[i] != "sparse")
      json.refuse("mlp_layer_types", quotedText(kinds[i]), "dense or sparse");
    config.layers[i].mixture = kinds[i] == "sparse";
  }
}

void readQwenWindows(const ConfigReader& json, ModelConfig& config, Index maxWindowLayers,
                     bool (*picks)(Index layer, Index bound)) {
  const bool slides = json.flag("use_sliding_window", false);
  auto window = readWindow(json, 4096, slides ? 1 : 0);  // transformers 5 writes 0 for none
  if (!slides) window.reset();
  const Index bound = json.size("max_window_layers", maxWindowLayers, 0, kMaxLayers);
  readWindows(
      json, window, window ? picks : [](Index, Index) { return false; }, bound, config);
}

void readMixture(const ConfigReader& json, const MixtureKeys& keys, ModelConfig& config) {
  Mixture& mixture = config.mixture;
  const auto unlessZero = [](Index value) { return value > 0 ? std::optional(value) : std::nullopt; };
  mixture.experts = json.size(keys.experts, unlessZero(keys.count));
  mixture.used =
      json.size("num_experts_per_tok", unlessZero(std::min(keys.used, mixture.experts)), 1, mixture.experts);
  mixture.innerDim = json.size(keys.innerDim, unlessZero(keys.defaultDim));
  for (LayerKind& layer : config.layers) layer.mixture = true;
}

}  // namespace headscope::attention::families
