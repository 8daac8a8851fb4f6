#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "attention/formats/recorded/recorded_attention.h"
#include "attention/masks/plain_rules.h"
#include "attention/text/ascii.h"

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
  std::map<Index, std::map<Index, RecordedArray>> steps;  ///< of generate(), by layer and step
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
        if (const auto status = add(tensor, entry, *named); status)
          continue;
        else if (named->role == TensorRole::attention)
          return status.error();
        else
          leftOut(named->role, status.error().message);
      }
    std::vector<RecordedLayers> groups;
    std::optional<Error> refused;
    for (RecordedGroup group :
         {RecordedGroup::only, RecordedGroup::encoder, RecordedGroup::decoder, RecordedGroup::cross}) {
      if (const auto status = joinSteps(group); !status) return status.error();
      if (arrays(group, TensorRole::attention).layers.empty()) continue;
      std::vector<std::string> before = notes_;
      auto layers =
          checkWindow(group) ? layersOf(group) : Result<std::vector<RecordedLayer>>(windowed(group));
      if (!layers && checkWindow(group)) return layers.error();
      if (layers)
        groups.push_back({std::string(groupName(group)), *std::move(layers), std::exchange(notes_, before)});
      else
        refused = layers.error();
    }
    if (groups.empty()) return refused.value_or(noAttention());
    if (groups.size() > 1 && groups[0].group.empty()) groups[0].group = "attention";
    return groups;
  }

 private:
  /// Notes why an array isn't used; of each role only the first, since what is wrong is wrong in all layers.
  void leftOut(TensorRole role, const std::string& why) {
    if (!leftOut_.insert(role).second) return;
    notes_.push_back((why.starts_with(name_ + ": ") ? why.substr(name_.size() + 2) : why) + ": not used.");
  }

  /// Whether the columns of a group are keys: Longformer's are offsets in a window, beside which it gives the
  /// attention of its global tokens.
  bool checkWindow(RecordedGroup group) const {
    if (group == RecordedGroup::decoder || group == RecordedGroup::cross) return true;
    return std::ranges::none_of(header_.tensors, [](const auto& tensor) {
      return lowerCase(tensor.first).find("global_att") != std::string::npos;
    });
  }
  Error windowed(RecordedGroup group) {
    const RecordedArray& array = arrays(group, TensorRole::attention).layers.begin()->second;
    return Error{
        fmt::format("{} is {}: beside global attentions, as Longformer gives them, its columns are global "
                    "tokens and offsets "
                    "in a window, not keys; expected [heads, n, n], each row's window put at its keys",
                    at(array.tensor()), sizes(array))};
  }

  /// Joins each layer's steps of generate(): every step adds the rows of its new tokens.
  Status joinSteps(RecordedGroup group) {
    RoleArrays& role = arrays(group, TensorRole::attention);
    for (const auto& [number, steps] : role.steps) {
      if (role.layers.contains(number)) continue;
      const RecordedArray& first = steps.begin()->second;
      RecordedArray whole = first;
      // Without a cache every step computes the whole text again.
      const bool again =
          std::ranges::all_of(steps, [](const auto& step) { return step.second.rows == step.second.cols; });
      if (again) whole = steps.rbegin()->second;
      Index end = first.cols;  // keys so far
      for (auto step = std::next(steps.begin()); step != steps.end() && !again; ++step) {
        const RecordedArray& more = step->second;
        if (group != RecordedGroup::cross) end += more.rows;
        if (more.heads != first.heads || more.cols > end)
          return Error{fmt::format(
              "{} is {} in step {}, expected {} heads and at most {} keys after the steps before: row "
              "{} is the first that differs",
              at(more.tensor()), sizes(more), step->first, first.heads, end, whole.rows)};
        RecordedBlock block = more.blocks.front();
        block.row = whole.rows;
        block.col = end - more.cols;
        whole.blocks.push_back(block);
        whole.rows += more.rows;
        whole.cols = end;
      }
      if (whole.rows > kMaxMapTokens || whole.cols > kMaxMapTokens)
        return Error{fmt::format("{}: the steps hold {} queries and {} keys, expected at most {}", name_,
                                 whole.rows, whole.cols, kMaxMapTokens)};
      role.layers[number] = std::move(whole);
    }
    if (!role.steps.empty())
      notes_.push_back(fmt::format("The {} of generate() are joined into one text.",
                                   counted(std::ssize(role.steps.begin()->second), "step")));
    for (const TensorRole each : {TensorRole::queries, TensorRole::keys, TensorRole::values})
      joinRows(group, each);
    return success();
  }

  /// Joins q, k or v of generate()'s steps: each has the rows of its new tokens, or all so far.
  void joinRows(RecordedGroup group, TensorRole role) {
    RoleArrays& found = arrays(group, role);
    const auto& attention = arrays(group, TensorRole::attention).layers;
    for (const auto& [number, steps] : found.steps) {
      const auto of = attention.find(number);
      if (found.layers.contains(number) || of == attention.end()) continue;
      RecordedArray whole = steps.rbegin()->second;
      const bool all = whole.rows == (role == TensorRole::queries ? of->second.rows : of->second.cols);
      if (!all) whole = steps.begin()->second;
      bool fits = true;
      for (auto step = std::next(steps.begin()); step != steps.end() && !all && fits; ++step) {
        const RecordedArray& more = step->second;
        fits = more.heads == whole.heads && more.cols == whole.cols;
        if (!fits)
          leftOut(role, fmt::format("{} is {} in step {}, expected {} heads of {} as in the step before",
                                    at(more.tensor()), sizes(more), step->first, whole.heads, whole.cols));
        whole.blocks.push_back(more.blocks.front());
        whole.blocks.back().row = whole.rows;
        whole.rows += more.rows;
      }
      if (!fits) continue;
      found.layers[number] = std::move(whole);
    }
  }

  Result<std::vector<RecordedLayer>> layersOf(RecordedGroup group) {
    std::vector<RecordedLayer> layers;
    Index keys = 0;
    for (const auto& [number, array] : arrays(group, TensorRole::attention).layers)
      keys = std::max(keys, array.cols);
    std::vector<Index> narrow;
    for (const auto& [number, array] : arrays(group, TensorRole::attention).layers) {
      RecordedLayer layer{number, array, at(group, TensorRole::queries, number),
                          at(group, TensorRole::keys, number), at(group, TensorRole::values, number)};
      leaveOutUnfit(layer);
      // A layer with a window keeps the last keys.
      if (array.cols < keys && group != RecordedGroup::cross) {
        narrow.push_back(number);
        const Index shift = keys - array.cols;
        for (RecordedBlock& block : layer.attention.blocks) block.col += shift;
        layer.attention.cols = keys;
        layer.keysFrom = shift;
        for (auto* other : {&layer.k, &layer.v})
          if (*other) {
            for (RecordedBlock& block : (*other)->blocks) block.row += shift;
            (*other)->rows = keys;
          }
      }
      if (const auto status = check(layer, layers.empty() ? layer : layers[0]); !status)
        return status.error();
      layers.push_back(std::move(layer));
    }
    if (!narrow.empty())
      notes_.push_back(fmt::format(
          "Layer{} {} ha{} fewer than the {} keys of others: the last ones, as a window keeps.",
          narrow.size() == 1 ? "" : "s", fmt::join(narrow, ", "), narrow.size() == 1 ? "s" : "ve", keys));
    const RecordedArray& first = layers.front().attention;
    if (group == RecordedGroup::only && first.rows > first.cols)
      notes_.push_back(
          "There are more queries than keys, so this is taken as attention between two texts; the "
          "columns of a window (Longformer) aren't keys.");
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
    if (named.step && !shaped->allLayers) {
      RecordedArray& step = role.steps[named.layer.value_or(0)][*named.step];
      step = arrayOf(tensor, *shaped, 0);
      if (named.tokensFirst) turn(step);
      return success();
    }
    for (Index i = 0; i < shaped->layers; ++i) {
      const Index number = named.layer ? *named.layer : numberOf(i);
      const auto [array, added] = role.layers.emplace(number, arrayOf(tensor, *shaped, i));
      if (!added)
        return Error{fmt::format("{} and tensor {} are both the {} of layer {}, expected one of them",
                                 at(tensor), quotedText(array->second.tensor()),
                                 kRoleWords[static_cast<std::size_t>(named.role)], number)};
      if (named.tokensFirst) turn(array->second);
    }
    return success();
  }

  static RecordedArray arrayOf(const std::string& tensor, const Shaped& shaped, Index layer) {
    const auto values = static_cast<std::uint64_t>(shaped.heads * shaped.rows * shaped.cols);
    return {shaped.heads,
            shaped.rows,
            shaped.cols,
            {{tensor, values * static_cast<std::uint64_t>(layer), shaped.rows, shaped.cols}}};
  }
  /// Takes [heads, tokens, headDim] as [tokens, heads, headDim], or the other way round. Joined steps keep
  /// their names' layout.
  static void turn(RecordedArray& array) {
    if (array.blocks.size() > 1) return;
    std::swap(array.heads, array.rows);
    array.blocks.front().rows = array.rows;
    array.tokensFirst = !array.tokensFirst;
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

  /// Turns q, k and v if that makes all of them fit the attention, and leaves out those that don't fit.
  void leaveOutUnfit(RecordedLayer& layer) {
    const RecordedArray& a = layer.attention;
    const auto fits = [&](const std::optional<RecordedArray>& array, bool query) {
      if (!array) return true;
      return query ? array->heads == a.heads && array->rows == a.rows
                   : a.heads % array->heads == 0 && array->rows == a.cols;
    };
    const auto allFit = [&] { return fits(layer.q, true) && fits(layer.k, false) && fits(layer.v, false); };
    const auto turnAll = [&] {
      for (auto* array : {&layer.q, &layer.k, &layer.v})
        if (*array) turn(**array);
    };
    if (!allFit()) {
      turnAll();
      if (!allFit()) turnAll();
    }
    for (auto* array : {&layer.q, &layer.k, &layer.v}) {
      const bool query = array == &layer.q;
      if (fits(*array, query)) continue;
      leftOut(query               ? TensorRole::queries
              : array == &layer.k ? TensorRole::keys
                                  : TensorRole::values,
              fmt::format("{} is {} in layer {}, expected [{}, {}, head_dim] with attention {}",
                          at((*array)->tensor()), sizes(**array), layer.number, a.heads,
                          query ? a.rows : a.cols, sizes(a)));
      array->reset();
    }
    if (!layer.q || !layer.k || layer.q->cols == layer.k->cols) return;
    leftOut(TensorRole::keys, fmt::format("{} has heads of {}, expected {}, as {} has", at(layer.k->tensor()),
                                          layer.k->cols, layer.q->cols, quotedText(layer.q->tensor())));
    layer.q.reset();
    layer.k.reset();
  }

  /// Checks that a layer's sizes are those of the first layer.
  Status check(const RecordedLayer& layer, const RecordedLayer& first) const {
    const RecordedArray& a = layer.attention;
    if (a.rows == first.attention.rows && a.cols == first.attention.cols) return success();
    return Error{fmt::format("{} is {} in layer {}, expected {} queries and {} keys as in layer {}",
                             at(a.tensor()), sizes(a), layer.number, first.attention.rows,
                             first.attention.cols, first.number)};
  }

  const SafetensorsHeader& header_;
  const std::string& name_;
  RoleArrays roles_[4][4];  // by group and role
  std::vector<std::string> notes_;
  std::set<TensorRole> leftOut_;
};

}  // namespace

Result<std::vector<RecordedLayers>> findRecordedLayers(const SafetensorsHeader& header,
                                                       const std::string& name) {
  return LayerFinder(header, name).find();
}

}  // namespace headscope::attention
