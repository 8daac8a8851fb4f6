#include "attention/masks/expression.h"

#include <fmt/core.h>

#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

Error beyond(const std::string& what, Index found, Index count) {
  return Error{fmt::format("heads(…) names {} {}, expected 0 to {}", what, found, count - 1)};
}

Status checkSet(const HeadSet& set, Index heads, Index kvHeads) {
  for (const HeadSet::Item& item : set.items) {
    if (item.kind == HeadSet::Kind::range && item.last >= heads) return beyond("head", item.last, heads);
    if (item.kind == HeadSet::Kind::kvHead && item.first >= kvHeads)
      return beyond("kv head", item.first, kvHeads);
  }
  return success();
}

}  // namespace

bool HeadSet::contains(Index head, Index kvHead) const {
  return std::any_of(items.begin(), items.end(), [&](const Item& item) {
    switch (item.kind) {
      case Kind::range:
        return item.first <= head && head <= item.last;
      case Kind::even:
        return head % 2 == 0;
      case Kind::odd:
        return head % 2 != 0;
      case Kind::kvHead:
        return kvHead == item.first;
    }
    return false;
  });
}

bool PatternUse::operator==(const PatternUse& other) const {
  return kind == other.kind && arguments == other.arguments && inner == other.inner;
}

PatternUse defaultUse(PatternKind kind) {
  PatternUse use{kind, {}, {}};
  for (const ParameterInfo& parameter : infoOf(kind).parameters) {
    if (parameter.fromText) {
      use.arguments.emplace_back();
    } else if (parameter.kind == ParameterKind::count) {
      use.arguments.push_back(Argument{{parameter.defaultValue}, ""});
    } else {
      use.arguments.push_back(Argument{{}, parameter.kind == ParameterKind::convention ? "visible" : ""});
    }
  }
  return use;
}

Status checkHeads(const MaskLayers& layers, Index heads, Index kvHeads) {
  for (const Layer& layer : layers) {
    if (!layer.on) continue;
    if (layer.heads)
      if (const auto status = checkSet(*layer.heads, heads, kvHeads); !status) return status;
    for (const MaskLayers* nested : {&layer.group, &layer.pattern.inner})
      if (const auto status = checkHeads(*nested, heads, kvHeads); !status) return status;
  }
  return success();
}

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string spanText(Index first, Index last) {
  return std::to_string(first) + (first == last ? "" : "-" + std::to_string(last));
}

std::string setText(const char* word, const HeadSet& set) {
  std::string text;
  for (const HeadSet::Item& item : set.items) {
    text += text.empty() ? "" : ", ";
    switch (item.kind) {
      case HeadSet::Kind::range:
        text += spanText(item.first, item.last);
        break;
      case HeadSet::Kind::even:
        text += "even";
        break;
      case HeadSet::Kind::odd:
        text += "odd";
        break;
      case HeadSet::Kind::kvHead:
        text += "kv " + std::to_string(item.first);
        break;
    }
  }
  return word + ("(" + text) + "): ";
}

std::string argumentText(ParameterKind kind, const Argument& argument) {
  const auto& values = argument.values;
  switch (kind) {
    case ParameterKind::name:
    case ParameterKind::path:
      return quoted(argument.text);
    case ParameterKind::convention:
      return argument.text;
    case ParameterKind::count:
      if (values.size() == 1) return std::to_string(values[0]);
      break;
    case ParameterKind::positions:
    case ParameterKind::spans:
    case ParameterKind::parents:
      break;
  }
  const std::size_t step = kind == ParameterKind::spans ? 2 : 1;
  std::string text = "[";
  for (std::size_t i = 0; i + step <= values.size(); i += step)
    text += (i == 0 ? "" : ", ") + spanText(values[i], values[i + step - 1]);
  return text + "]";
}

/// Whether arguments are written without names: if there is only one parameter, or a path and its convention,
/// which can't be confused.
bool isPositional(const PatternInfo& info) {
  if (info.parameters.empty() || info.takesInner) return false;
  return info.parameters.size() == 1 || info.parameters[0].kind == ParameterKind::path;
}

std::string patternText(const PatternUse& use) {
  const PatternInfo& info = infoOf(use.kind);
  std::string text = use.inner.empty() ? "" : maskText(use.inner);
  for (std::size_t i = 0; i < info.parameters.size() && i < use.arguments.size(); ++i) {
    if (!use.arguments[i]) continue;
    const ParameterInfo& parameter = info.parameters[i];
    text += text.empty() ? "" : ", ";
    if (!isPositional(info)) text += std::string(parameter.name) + "=";
    text += argumentText(parameter.kind, *use.arguments[i]);
  }
  return std::string(info.name) + (text.empty() ? "" : "(" + text + ")");
}

/// Returns the text before a layer's pattern or brackets.
std::string prefixText(const Layer& layer) {
  std::string text;
  if (!layer.name.empty()) text += quoted(layer.name) + ": ";
  if (!layer.on) text += "off: ";
  if (layer.heads) text += setText("heads", *layer.heads);
  if (layer.sequences) text += setText("sequences", *layer.sequences);
  return text + (layer.negated ? "!" : "");
}

/// Removes brackets without prefixes around a single layer.
const Layer& unwrapped(const Layer& layer) {
  const Layer* inner = &layer;
  while (inner->group.size() == 1 && prefixText(*inner).empty()) inner = &inner->group.front();
  return *inner;
}

const char* joinText(Combine join) {
  return join == Combine::all ? " & " : join == Combine::any ? " | " : " then ";
}

/// A list without brackets around it. `join` is the loosest join at its top level, if there is any.
struct ListText {
  std::string text;
  bool joined = false;
  Combine join = Combine::all;
};

ListText listText(const MaskLayers& layers) {
  ListText out;
  std::size_t opened = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = unwrapped(layers[i]);
    if (i == 0) {
      // Brackets without prefixes at the start of a list are redundant before the first join.
      const bool bare = layer.isGroup() && prefixText(layer).empty();
      out = bare ? listText(layer.group) : ListText{layerText(layer)};
      continue;
    }
    const Combine join = layers[i].combine;
    if (out.joined && out.join > join) {
      out.text += ")";
      ++opened;
    }
    out.text += joinText(join) + layerText(layer);
    out.joined = true;
    out.join = join;
  }
  out.text.insert(0, opened, '(');
  return out;
}

/// One character of a shown line, and its offset in the text.
struct ShownCharacter {
  std::string text;
  std::size_t offset = 0, columns = 1;
};

std::vector<ShownCharacter> shownCharacters(std::string_view text, std::size_t begin, std::size_t end) {
  std::vector<ShownCharacter> shown;
  for (std::size_t at = begin; at < end;) {
    const DecodedCodePoint point = decodeUtf8(text, at);
    if (point.fault) {
      shown.push_back({"?", at, 1});
    } else if (isControl(point.value)) {
      shown.push_back({" ", at, 1});
    } else {
      shown.push_back({std::string(text.substr(at, point.length)), at, columnsOf(point.value)});
    }
    at += point.length;
  }
  return shown;
}

}  // namespace

std::string maskText(const MaskLayers& layers) {
  return listText(layers).text;
}

std::string layerText(const Layer& layer) {
  const std::string prefix = prefixText(layer);
  if (!layer.isGroup()) return prefix + patternText(layer.pattern);
  const Layer& only = unwrapped(layer.group.front());
  if (layer.group.size() == 1 && prefixText(only).empty()) {
    Layer merged = layer;
    merged.pattern = only.pattern;
    merged.group = only.group;
    return layerText(merged);
  }
  return prefix + "(" + maskText(layer.group) + ")";
}

std::string caretText(std::string_view text, std::size_t offset) {
  // Fits a line of a terminal, with twice as much text before the place as after it.
  constexpr std::size_t kBefore = 50, kAfter = 25, kLongestCharacter = 4;
  offset = std::min(offset, text.size());
  const std::size_t begin = offset - std::min(offset, (kBefore + 1) * kLongestCharacter);
  const std::size_t end = std::min(text.size(), offset + (kAfter + 1) * kLongestCharacter);
  // Don't start inside a UTF-8 sequence, which would show as damaged text.
  std::size_t start = begin;
  while (start > 0 && start < offset && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) ++start;
  const auto shown = shownCharacters(text, start, end);
  const auto place = static_cast<std::size_t>(
      std::partition_point(shown.begin(), shown.end(),
                           [&](const ShownCharacter& c) { return c.offset < offset; }) -
      shown.begin());
  const std::size_t first = place - std::min(place, kBefore);
  const std::size_t last = std::min(shown.size(), place + kAfter);
  std::string line = first > 0 || start > 0 ? "…" : "", caret = line.empty() ? "" : " ";
  for (std::size_t i = first; i < last; ++i) {
    line += shown[i].text;
    if (i < place) caret.append(shown[i].columns, ' ');
  }
  if (last < shown.size() || end < text.size()) line += "…";
  return line + "\n" + caret + "^";
}

}  // namespace headscope::attention
