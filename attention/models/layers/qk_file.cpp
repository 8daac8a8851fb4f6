#include <fmt/core.h>

#include <new>
#include <tuple>

#include "attention/models/layers/attention_file.h"
#include "attention/models/layers/layer_reader.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

bool isNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isDigit);
}

/// Returns the role if it is queries or keys.
std::optional<TensorRole> roleOf(std::string_view word) {
  constexpr std::string_view kCache = "_cache";
  std::string lower = lowerCase(word);
  const bool cached = lower.ends_with(kCache);
  if (cached) lower.resize(lower.size() - kCache.size());
  const auto role = tensorRoleOf(lower);
  return role == TensorRole::keys || (role == TensorRole::queries && !cached) ? role : std::nullopt;
}

/// Removes a number and the separator before it from the end of `text`. Returns an empty text if there is
/// none.
std::string_view cutNumber(std::string_view& text, std::string_view separators) {
  const auto at = text.find_last_of(separators);
  if (at == std::string_view::npos || !isNumber(text.substr(at + 1))) return {};
  const auto number = text.substr(at + 1);
  text = text.substr(0, at);
  return number;
}

}  // namespace

std::optional<QkName> qkNameOf(std::string_view tensor) {
  std::string_view rest = tensor;
  const auto number = cutNumber(rest, "./_");
  const auto named = [&](TensorRole role, std::string_view prefix) {
    std::string layer(prefix);
    if (!number.empty()) layer += (layer.empty() ? "" : ".") + std::string(number);
    return QkName{role, std::move(layer)};
  };
  const auto dot = rest.find_last_of("./");
  const auto begin = dot == std::string_view::npos ? 0 : dot + 1;
  const auto word = rest.substr(begin);
  if (const auto role = roleOf(word)) return named(*role, rest.substr(0, begin == 0 ? 0 : dot));
  // An underscore separates layer and role only after a digit: "layer_3_q" names a layer's queries, "w_q" a
  // weight.
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] != '_' || !isDigit(word[i - 1])) continue;
    if (const auto role = roleOf(word.substr(i + 1))) return named(*role, rest.substr(0, begin + i));
  }
  return std::nullopt;
}

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
  if (!options->causalGiven) layer.rules.causal = layer.queriesFromKeys;
  if (!options->cacheGiven) config.cacheLength = std::max<Index>(0, layer.keys() - layer.queries());
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

Result<QkFile> QkFile::open(const std::filesystem::path& path) {
  auto tensors = TensorSource::open(path);
  if (!tensors) return tensors.error();
  auto layers = findQkLayers(tensors->header(), shownPath(path));
  if (!layers) return layers.error();
  return QkFile(path, *std::move(tensors), *std::move(layers));
}

const QkLayer& QkFile::layerAt(Index layer) const {
  require(layer >= 0 && layer < std::ssize(layers_),
          fmt::format("layer {} of {} in a Q/K file", layer, layers_.size()));
  return layers_[static_cast<std::size_t>(layer)];
}

Result<Matrix> QkFile::readQueries(Index layer, Index head) const {
  return readHead(layerAt(layer).q, head);
}

Result<Matrix> QkFile::readKeys(Index layer, Index kvHead) const {
  return readHead(layerAt(layer).k, kvHead);
}

Result<Matrix> QkFile::readHead(const QkTensor& tensor, Index head) const {
  require(head >= 0 && head < tensor.heads,
          fmt::format("head {} of a tensor {}", head, shapeText(tensor.shape)));
  const auto where = at(shownPath(path_), tensor.name);
  try {
    Matrix values(tensor.tokens, tensor.headDim);
    const std::span<float> floats(values.data(), static_cast<std::size_t>(values.size()));
    const auto first = static_cast<std::uint64_t>(head) * floats.size();
    if (const auto status = tensors_.readFloats(tensor.name, first, floats, where); !status)
      return status.error();
    const auto bad =
        std::find_if(floats.begin(), floats.end(), [](float one) { return !std::isfinite(one); });
    if (bad == floats.end()) return values;
    return Error{fmt::format("{} is {} at head {}, token {}, expected finite values", where,
                             nonFiniteName(*bad), head, (bad - floats.begin()) / tensor.headDim)};
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("{} has heads of {} × {} numbers, more than there is memory for", where,
                             tensor.tokens, tensor.headDim)};
  }
}

}  // namespace headscope::attention
