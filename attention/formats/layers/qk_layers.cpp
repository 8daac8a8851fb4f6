#include "attention/formats/layers/qk_layers.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "attention/core/map_limits.h"
#include "attention/formats/layers/attention_options.h"
#include "attention/formats/layers/qk_names.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors_header.h"

namespace headscope::attention {
namespace {

using Named = std::pair<const std::string, TensorEntry>;

/// The tensors of one layer, as listed in the header.
struct Found {
  const Named* queries = nullptr;
  const Named* keys = nullptr;
};

struct NaturalOrder {
  bool operator()(const std::string& a, const std::string& b) const { return naturalLess(a, b); }
};
using FoundLayers = std::map<std::string, Found, NaturalOrder>;

std::string at(const std::string& name, const std::string& tensor) {
  return name + ": tensor " + quotedText(tensor);
}

/// Formats the other side of a comparison: `tensor "q" [4, 9, 64]`.
std::string withShape(const QkTensor& tensor) {
  return "tensor " + quotedText(tensor.name) + " " + shapeText(tensor.shape);
}

Result<FoundLayers> groupByLayer(const SafetensorsHeader& header, const std::string& name) {
  FoundLayers layers;
  for (const Named& tensor : header.tensors) {
    const auto known = qkNameOf(tensor.first);
    if (!known) continue;
    auto& layer = layers[known->layer];
    const bool isQueries = known->role == TensorRole::queries;
    auto& place = isQueries ? layer.queries : layer.keys;
    if (place) {
      return Error{at(name, place->first) + " and tensor " + quotedText(tensor.first) + " both name " +
                   (isQueries ? "queries" : "keys") + ", expected one of them for each layer"};
    }
    place = &tensor;
  }
  if (layers.empty()) {
    return Error{
        fmt::format("{}: none of its {} tensors has the name of keys, expected names such as \"k\", "
                    "\"layers.0.k\" or \"key_cache\"",
                    name, header.tensors.size())};
  }
  if (layers.size() > static_cast<std::size_t>(kMaxMapLayers)) {
    return Error{
        fmt::format("{}: holds keys of {} layers, expected at most {}", name, layers.size(), kMaxMapLayers)};
  }
  return layers;
}

/// Derives sizes from the shape and checks them against the limits.
Result<QkTensor> readTensor(const Named& named, const std::string& name) {
  const auto& [tensor, entry] = named;
  const auto& shape = entry.shape;
  const auto found = at(name, tensor) + " is " + shapeText(shape);
  const std::size_t rank = shape.size();
  if (rank < 2 || rank > 4 || (rank == 4 && shape[0] != 1)) {
    return Error{found +
                 ", expected [tokens, headDim], [heads, tokens, headDim] or [1, heads, tokens, headDim]"};
  }
  const auto heads = rank == 2 ? 1 : shape[rank - 3];
  const std::tuple<std::uint64_t, Index, const char*> sizes[] = {
      {heads, kMaxMapHeads, " heads"},
      {shape[rank - 2], kMaxMapTokens, " tokens"},
      {shape[rank - 1], kMaxMapHeadDim, " numbers per head"}};
  for (const auto& [size, most, what] : sizes) {
    if (size >= 1 && size <= static_cast<std::uint64_t>(most)) continue;
    return Error{fmt::format("{}, which is {}{}, expected 1 to {}", found, size, what, most)};
  }
  // Without any data, this only checks that the type is floating-point.
  if (const auto status = convertToFloats(entry.dtype, {}, {}, at(name, tensor)); !status)
    return status.error();
  return QkTensor{tensor,
                  entry.dtype,
                  shape,
                  static_cast<Index>(heads),
                  static_cast<Index>(shape[rank - 2]),
                  static_cast<Index>(shape[rank - 1])};
}

Status checkPair(const QkTensor& q, const QkTensor& k, const std::string& name) {
  if (q.headDim != k.headDim) {
    return Error{fmt::format("{} is {} with heads of size {}, expected {} as in {}", at(name, k.name),
                             shapeText(k.shape), k.headDim, q.headDim, withShape(q))};
  }
  if (q.heads % k.heads != 0) {
    return Error{fmt::format("{} is {} with {} heads, expected a divisor of the {} heads of {}",
                             at(name, k.name), shapeText(k.shape), k.heads, q.heads, withShape(q))};
  }
  return success();
}

bool says(const SafetensorsHeader& header, const std::string& option) {
  const auto found = header.metadata.find(option);
  return found != header.metadata.end() && !found->second.empty() && found->second != "None" &&
         found->second != "none";
}

/// Checks that sizes stated in the metadata match the tensors.
Status checkStatedSizes(const ParsedOptions& options, const QkLayer& layer, const std::string& name) {
  const std::tuple<const char*, std::optional<Index>, Index, const QkTensor&> sizes[] = {
      // A dump of keys alone doesn't tell the number of query heads.
      {"heads", layer.queriesFromKeys ? std::nullopt : options.heads, layer.q.heads, layer.q},
      {"kv_heads", options.kvHeads, layer.k.heads, layer.k},
      {"head_dim", options.headDim, layer.k.headDim, layer.k}};
  for (const auto& [option, stated, size, tensor] : sizes) {
    if (!stated || *stated == size) continue;
    return Error{fmt::format("{}: option {} is {}, expected {} as in {}", name, option, *stated, size,
                             withShape(tensor))};
  }
  return success();
}

/// Fills in `layer`'s config and rules from the metadata.
Status readOptions(const SafetensorsHeader& header, const std::string& name, QkLayer& layer) {
  auto options = parseOptions(header.metadata, {}, name);
  if (!options) return options.error();
  if (const auto status = checkStatedSizes(*options, layer, name); !status) return status.error();
  AttentionConfig& config = layer.config;
  config = options->config;
  config.heads = layer.q.heads;
  config.kvHeads = layer.k.heads;
  config.headDim = layer.q.headDim;
  config.modelDim = config.heads * config.headDim;
  layer.rules = options->rules;
  if (!says(header, "causal")) layer.rules.causal = layer.queriesFromKeys;
  if (!says(header, "cache_length")) config.cacheLength = std::max<Index>(0, layer.keys() - layer.queries());
  if (const auto status = validate(config); !status) return Error{name + ": " + status.error().message};
  return success();
}

Result<QkLayer> readLayerOf(const std::string& layerName, const Found& found, const SafetensorsHeader& header,
                            const std::string& name) {
  if (!found.keys) {
    return Error{at(name, found.queries->first) + " has queries, but no tensor has the keys " +
                 (layerName.empty() ? std::string("for them") : "of layer " + quotedText(layerName)) +
                 ", expected one such as \"" + (layerName.empty() ? "" : "….") + "k\""};
  }
  const auto k = readTensor(*found.keys, name);
  if (!k) return k.error();
  QkLayer layer{layerName, *k, *k, found.queries == nullptr, {}, {}};
  if (found.queries) {
    const auto q = readTensor(*found.queries, name);
    if (!q) return q.error();
    if (const auto status = checkPair(*q, *k, name); !status) return status.error();
    layer.q = *q;
  }
  if (const auto status = readOptions(header, name, layer); !status) return status.error();
  return layer;
}

}  // namespace

Result<std::vector<QkLayer>> findQkLayers(const SafetensorsHeader& header, const std::string& name) {
  const auto found = groupByLayer(header, name);
  if (!found) return found.error();
  std::vector<QkLayer> layers;
  for (const auto& [layerName, tensors] : *found) {
    auto layer = readLayerOf(layerName, tensors, header, name);
    if (!layer) return layer.error();
    layers.push_back(std::move(*layer));
  }
  return layers;
}

}  // namespace headscope::attention
