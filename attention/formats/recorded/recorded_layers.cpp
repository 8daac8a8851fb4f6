#include "attention/formats/recorded/recorded_layers.h"

#include <fmt/core.h>

#include <charconv>
#include <iterator>
#include <map>
#include <sstream>

#include "attention/core/map_limits.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/formats/recorded/recorded_names.h"
#include "attention/masks/plain_rules.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

constexpr std::string_view kRoleWords[] = {"attention", "queries", "keys", "values"};

/// The axes of a tensor without its batch: [layers, heads, rows, cols].
struct Shaped {
  Index layers = 1, heads = 1, rows = 0, cols = 0;
  bool allLayers = false;  ///< whether it has four axes, layers first
};

/// A file's arrays of one role: one for all layers, or one per layer.
struct RoleArrays {
  std::map<Index, RecordedArray> layers;
  std::map<Index, std::string> tensors;  ///< source tensor of each layer
};

class LayerFinder {
 public:
  LayerFinder(const SafetensorsHeader& header, const std::string& name) : header_(header), name_(name) {}

  Result<std::vector<RecordedLayers>> find() {
    const bool manyArrays = header_.tensors.contains("arr_1");
    for (const auto& [tensor, entry] : header_.tensors)
      if (auto named = recordedNameOf(tensor)) {
        // NumPy calls a single array arr_0, whether it holds one layer or all.
        if (tensor == "arr_0" && !manyArrays) named->layer.reset();
        if (const auto status = add(tensor, entry, *named); !status) return status.error();
      }
    std::vector<RecordedLayers> groups;
    for (RecordedGroup group :
         {RecordedGroup::only, RecordedGroup::encoder, RecordedGroup::decoder, RecordedGroup::cross}) {
      if (arrays(group, TensorRole::attention).layers.empty()) continue;
      auto layers = layersOf(group);
      if (!layers) return layers.error();
      groups.push_back({std::string(groupName(group)), *std::move(layers)});
    }
    if (groups.empty()) return noAttention();
    if (groups.size() > 1 && groups[0].group.empty()) groups[0].group = "attention";
    return groups;
  }

 private:
  Result<std::vector<RecordedLayer>> layersOf(RecordedGroup group) {
    std::vector<RecordedLayer> layers;
    for (const auto& [number, array] : arrays(group, TensorRole::attention).layers) {
      RecordedLayer layer{number, array, at(group, TensorRole::queries, number),
                          at(group, TensorRole::keys, number), at(group, TensorRole::values, number)};
      if (const auto status = check(layer, layers.empty() ? layer : layers[0]); !status)
        return status.error();
      layers.push_back(std::move(layer));
    }
    if (std::ssize(layers) > kMaxMapLayers)
      return Error{
          fmt::format("{}: holds {} layers, expected at most {}", name_, layers.size(), kMaxMapLayers)};
    return layers;
  }

  RoleArrays& arrays(RecordedGroup group, TensorRole role) {
    return roles_[static_cast<std::size_t>(group)][static_cast<std::size_t>(role)];
  }
  bool isAlone(RecordedGroup group) {
    for (std::size_t other = 0; other < std::size(roles_); ++other)
      if (other != static_cast<std::size_t>(group) && !roles_[other][0].layers.empty()) return false;
    return true;
  }
  /// Arrays whose names don't say belong to the only group, if there is just one.
  std::optional<RecordedArray> at(RecordedGroup group, TensorRole role, Index layer) {
    for (const RecordedGroup from : {group, RecordedGroup::only}) {
      const auto& found = arrays(from, role).layers;
      if (const auto array = found.find(layer); array != found.end()) return array->second;
      if (!isAlone(group)) break;
    }
    return std::nullopt;
  }
  std::string at(const std::string& tensor) const { return name_ + ": tensor " + quotedText(tensor); }

  /// Lists the first names with their shapes, and the number of others.
  std::string held() const {
    constexpr std::size_t kNamed = 8;
    std::string text;
    std::size_t named = 0;
    for (const auto& [tensor, entry] : header_.tensors) {
      if (named++ == kNamed) break;
      text += (text.empty() ? "" : ", ") + quotedText(tensor) + " " + shapeText(entry.shape);
    }
    if (header_.tensors.empty()) return "nothing";
    return header_.tensors.size() <= kNamed
               ? text
               : fmt::format("{} and {} more", text, header_.tensors.size() - kNamed);
  }

  Error noAttention() const {
    return Error{fmt::format(
        "{}: has no attention, expected a tensor \"attention\" [layers, heads, n, m], or one for each layer "
        "(\"attention.0\", \"arr_0\", \"layers.0.attn_weights\", \"cross_attentions.0\", …) [heads, n, m]; "
        "the file "
        "holds {}",
        name_, held())};
  }

  /// Returns the axes of an array.
  Result<Shaped> shapedAs(const std::string& tensor, const TensorEntry& entry,
                          const RecordedName& named) const {
    if (const auto status = convertToFloats(entry.dtype, {}, {}, at(tensor)); !status) return status.error();
    std::vector<std::uint64_t> shape = entry.shape;
    const bool attention = named.role == TensorRole::attention;
    const std::string last = attention ? "n, m" : "n, head_dim";
    const std::string expected = named.layer ? fmt::format("[heads, {0}] or [1, heads, {0}]", last)
                                             : fmt::format("[layers, heads, {0}] or [heads, {0}]", last);
    const auto wrong = [&](const char* why) {
      return Error{fmt::format("{} is {}, expected {}{}", at(tensor), shapeText(entry.shape), expected, why)};
    };
    // Allow [layers, 1, heads, n, m], or [1, heads, n, m] for one layer.
    const std::size_t batchAxis = named.layer ? 0 : 1;
    if (shape.size() == (named.layer ? 4U : 5U)) {
      if (shape[batchAxis] != 1) return wrong(": save a single text of the batch");
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(batchAxis));
    }
    if (shape.size() < 2 || shape.size() > (named.layer ? 3U : 4U)) return wrong("");
    for (const auto size : shape)
      if (size == 0) return wrong(" with at least one of each");
    Shaped shaped;
    shaped.allLayers = shape.size() == 4;
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    if (shape[0] > kMaxMapLayers || shape[1] > kMaxMapHeads || shape[2] > kMaxMapTokens ||
        shape[3] > kMaxMapTokens)
      return wrong(fmt::format(" of at most {} layers, {} heads and {} tokens", kMaxMapLayers, kMaxMapHeads,
                               kMaxMapTokens)
                       .c_str());
    shaped.layers = static_cast<Index>(shape[0]);
    shaped.heads = static_cast<Index>(shape[1]);
    shaped.rows = static_cast<Index>(shape[2]);
    shaped.cols = static_cast<Index>(shape[3]);
    return shaped;
  }

  Status add(const std::string& tensor, const TensorEntry& entry, const RecordedName& named) {
    const auto shaped = shapedAs(tensor, entry, named);
    if (!shaped) return shaped.error();
    RoleArrays& role = arrays(named.group, named.role);
    for (Index i = 0; i < shaped->layers; ++i) {
      const Index number = named.layer ? *named.layer : numberOf(i);
      const auto [other, added] = role.tensors.emplace(number, tensor);
      if (!added)
        return Error{fmt::format("{} and tensor {} are both the {} of layer {}, expected one of them",
                                 at(tensor), quotedText(other->second),
                                 kRoleWords[static_cast<std::size_t>(named.role)], number)};
      const auto values = static_cast<std::uint64_t>(shaped->heads * shaped->rows * shaped->cols);
      role.layers[number] = {tensor, values * static_cast<std::uint64_t>(i), shaped->heads, shaped->rows,
                             shaped->cols};
    }
    return success();
  }

  /// Returns a layer's number; `headscope model --layers 0,5 -o` writes the numbers to the metadata.
  Index numberOf(Index place) const {
    const auto said = header_.metadata.find("layers");
    if (said == header_.metadata.end()) return place;
    std::istringstream list(said->second);
    std::string number;
    for (Index i = 0; i <= place; ++i)
      if (!std::getline(list, number, ',')) return place;
    Index value = place;
    std::from_chars(number.data(), number.data() + number.size(), value);
    return std::max<Index>(value, 0);
  }

  static std::string sizes(const RecordedArray& array) {
    return fmt::format("[{}, {}, {}]", array.heads, array.rows, array.cols);
  }

  /// Checks that a layer's arrays match each other, and its sizes those of the first layer.
  Status check(const RecordedLayer& layer, const RecordedLayer& first) const {
    const RecordedArray& a = layer.attention;
    if (a.rows != first.attention.rows || a.cols != first.attention.cols)
      return Error{fmt::format("{} is {} in layer {}, expected {} queries and {} keys as in layer {}",
                               at(a.tensor), sizes(a), layer.number, first.attention.rows,
                               first.attention.cols, first.number)};
    const auto wrong = [&](const RecordedArray& array, Index heads, Index tokens) {
      return Error{fmt::format("{} is {} in layer {}, expected [{}, {}, head_dim] with attention {}",
                               at(array.tensor), sizes(array), layer.number, heads, tokens, sizes(a))};
    };
    if (layer.q && (layer.q->heads != a.heads || layer.q->rows != a.rows))
      return wrong(*layer.q, a.heads, a.rows);
    for (const auto* array : {&layer.k, &layer.v})
      if (*array && (a.heads % (*array)->heads != 0 || (*array)->rows != a.cols))
        return wrong(**array, a.heads, a.cols);
    if (layer.q && layer.k && layer.q->cols != layer.k->cols)
      return Error{fmt::format("{} has heads of {}, expected {}, as {} has", at(layer.k->tensor),
                               layer.k->cols, layer.q->cols, quotedText(layer.q->tensor))};
    return success();
  }

  const SafetensorsHeader& header_;
  const std::string& name_;
  RoleArrays roles_[4][4];  // by group and role
};

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Removes the mark that tokenizers write for a space before a word: "Ġdog" and "▁dog" become "dog".
std::string withoutSpaceMark(std::string token) {
  for (const std::string_view mark : {"Ġ", "▁"})
    if (token.starts_with(mark) && token.size() > mark.size()) return token.substr(mark.size());
  return token;
}

/// Returns nullopt if the text isn't a JSON list of texts.
std::optional<std::vector<std::string>> jsonTokens(const std::string& text) {
  const auto parsed = parseJsonTree(text, "tokens");
  if (!parsed) return std::nullopt;
  const nlohmann::json& json =
      parsed->is_object() && parsed->contains("tokens") ? (*parsed)["tokens"] : *parsed;
  if (!json.is_array()) return std::nullopt;
  std::vector<std::string> tokens;
  for (const auto& token : json) {
    if (!token.is_string()) return std::nullopt;
    tokens.push_back(token);
  }
  return tokens;
}

}  // namespace

Result<std::vector<RecordedLayers>> findRecordedLayers(const SafetensorsHeader& header,
                                                       const std::string& name) {
  return LayerFinder(header, name).find();
}

Result<std::vector<std::string>> parseTokens(const std::string& text, Index expected, const std::string& what,
                                             const std::string& name) {
  if (!validateUtf8(text)) return Error{name + ": " + what + " are not UTF-8"};
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string::npos && (text[begin] == '[' || text[begin] == '{');
  std::vector<std::string> tokens;
  if (auto list = json ? jsonTokens(text) : std::nullopt) {
    tokens = *std::move(list);
  } else if (json && (text.find('"') != std::string::npos)) {
    return Error{name + ": " + what + " are not a list of texts in JSON"};
  } else {
    tokens = linesOf(text);
    if (std::ssize(tokens) != expected) tokens = wordsOf(text);
  }
  for (std::string& token : tokens) token = withoutSpaceMark(std::move(token));
  if (std::ssize(tokens) == expected) return tokens;
  return Error{fmt::format("{}: holds {} {}, expected {}", name, tokens.size(), what, expected)};
}

}  // namespace headscope::attention
