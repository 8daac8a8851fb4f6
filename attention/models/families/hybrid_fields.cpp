#include "attention/models/families/hybrid_fields.h"

#include <fmt/core.h>

#include "attention/formats/quote.h"

namespace headscope::attention::families {

void setHybrid(const ConfigReader& json, const std::vector<bool>& attends, ModelConfig& config) {
  std::vector<OtherLayer> others;
  for (std::size_t i = 0; i < attends.size(); ++i)
    others.push_back({static_cast<Index>(i), config.layers[i].mixture});
  setHybrid(json, attends, others, config);
}

void setHybrid(const ConfigReader& json, const std::vector<bool>& attends, const std::vector<OtherLayer>& all,
               ModelConfig& config) {
  std::vector<LayerKind> layers;
  std::vector<OtherLayer> others;
  std::string numbers;
  for (std::size_t i = 0; i < attends.size(); ++i) {
    LayerKind& layer = config.layers[i];
    if (!attends[i]) {
      others.push_back(all[i]);
      continue;
    }
    layer.number = static_cast<Index>(i);
    layer.before = std::exchange(others, {});
    layers.push_back(std::move(layer));
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(i);
  }
  if (layers.empty())
    return json.fail(
        fmt::format("{} none of its {} layers has attention to show", json.at(""), attends.size()));
  if (layers.size() < attends.size())
    config.notes.push_back(fmt::format(
        "{} of its {} layers have attention, in the file layers {}; here they are numbered from 0. The "
        "others carry a state from token to token and are computed between them.",
        layers.size(), attends.size(), numbers));
  layers.back().after = std::move(others);
  config.layers = std::move(layers);
}

std::vector<bool> namedLayers(const ConfigReader& json, std::string_view key, std::string_view other,
                              bool usual, const ModelConfig& config) {
  std::vector<bool> attends(config.layers.size(), usual);
  if (!json.has(key)) return attends;
  const std::vector<std::string> names = json.texts(key);
  if (names.size() != attends.size()) {
    json.refuse(key, fmt::format("a list of {}", names.size()),
                fmt::format("a name for each of the {} layers", attends.size()));
    return attends;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    attends[i] = names[i] == "full_attention" || names[i] == "attention";
    if (!attends[i] && names[i] != other && names[i] != "linear_attention")
      json.refuse(key, quotedText(names[i]), fmt::format("full_attention or {}", other));
  }
  return attends;
}

std::vector<bool> listedLayers(const ConfigReader& json, std::string_view key, const ModelConfig& config) {
  std::vector<bool> attends(config.layers.size(), false);
  for (const Index layer : json.tokens(key))
    if (layer < std::ssize(attends)) attends[asSize(layer)] = true;
  return attends;
}

void readMamba2(const ConfigReader& json, ModelConfig& config, std::optional<Index> width) {
  Recurrence& how = config.recurrence;
  how.kind = Recurrence::Kind::mamba2;
  how.heads = json.size("mamba_n_heads", 128);
  how.groups = json.size("mamba_n_groups", 1);
  how.state = json.size("mamba_d_state", 256);
  how.kernel = json.size("mamba_d_conv", 4);
  how.bias = how.outBias = json.flag("mamba_proj_bias", false);
  how.kernelBias = json.flag("mamba_conv_bias", true);
  how.epsilon = config.epsilon;
  const Index expanded = std::min(json.size("mamba_expand", 2) * config.modelDim, kMaxConfigSize),
              inner = width.value_or(expanded);
  how.headDim = evenShare(json, "mamba_expand · hidden_size", inner, "mamba_n_heads", how.heads);
  if (!json.isText("mamba_d_head") && json.size("mamba_d_head", how.headDim) != how.headDim)
    json.refuse("mamba_d_head", std::to_string(json.size("mamba_d_head", how.headDim)),
                fmt::format("{} as mamba_n_heads says", how.headDim));
  (void)evenShare(json, "mamba_n_heads", how.heads, "mamba_n_groups", how.groups);
}

}  // namespace headscope::attention::families
