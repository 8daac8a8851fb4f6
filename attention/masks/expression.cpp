#include "attention/masks/expression.h"

#include <fmt/core.h>

#include <algorithm>

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

}  // namespace headscope::attention
