#include "tests/attention/masks/random_layers.h"

#include <algorithm>

namespace headscope::attention::test {
namespace {

bool saysSomething(const Layer& layer) {
  return !layer.name.empty() || !layer.on || layer.heads || layer.sequences || layer.negated;
}

}  // namespace

MaskLayers RandomLayers::list(int depth) {
  MaskLayers layers;
  const Index count = 1 + below(4);
  for (Index i = 0; i < count; ++i) {
    Layer next = layer(depth);
    if (i > 0) {
      next.combine = static_cast<Combine>(below(3));
    } else if (next.isGroup() && !saysSomething(next)) {
      next.negated = true;
    }
    layers.push_back(std::move(next));
  }
  return layers;
}

Layer RandomLayers::layer(int depth) {
  Layer layer;
  if (chance(4)) layer.name = name();
  layer.on = !chance(5);
  layer.negated = chance(4);
  if (chance(4)) layer.heads = headSet(true);
  if (chance(6)) layer.sequences = headSet(false);
  if (depth > 0 && chance(3)) {
    layer.group = list(depth - 1);
    // A single bare layer in brackets is the same as that layer.
    if (layer.group.size() == 1) layer.group.push_back(this->layer(0));
  } else {
    layer.pattern = pattern(depth);
  }
  return layer;
}

PatternUse RandomLayers::pattern(int depth) {
  const auto table = patternTable();
  return use(table[static_cast<std::size_t>(below(std::ssize(table)))], depth);
}

PatternUse RandomLayers::use(const PatternInfo& info, int depth) {
  PatternUse use = defaultUse(info.kind);
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    if (info.parameters[i].fromText && chance(2)) continue;
    use.arguments[i] = argument(info.parameters[i]);
  }
  if (info.takesInner && depth > 0 && chance(2)) use.inner = list(depth - 1);
  return use;
}

Argument RandomLayers::argument(const ParameterInfo& parameter) {
  Argument argument;
  const Index length = below(4);
  switch (parameter.kind) {
    case ParameterKind::count:
      for (Index i = 0; i < std::max<Index>(1, length); ++i)
        argument.values.push_back(chance(9)
                                      ? parameter.high
                                      : std::min(parameter.high, parameter.low + parameter.step * below(40)));
      break;
    case ParameterKind::positions:
      for (Index i = 0, at = below(3); i < length; ++i, at += 1 + below(9)) argument.values.push_back(at);
      break;
    case ParameterKind::spans:
      for (Index i = 0, at = below(3); i < length; ++i, at += 20)
        argument.values.insert(argument.values.end(), {at, at + below(9)});
      break;
    case ParameterKind::parents:
      for (Index i = 0; i < length; ++i) argument.values.push_back(below(i + 1) - 1);
      break;
    case ParameterKind::convention:
      argument.text = chance(2) ? "masked" : chance(2) ? "visible" : "additive";
      break;
    default:
      argument.text = name();
  }
  return argument;
}

HeadSet RandomLayers::headSet(bool ofHeads) {
  HeadSet set;
  const Index count = 1 + below(3);
  for (Index i = 0; i < count; ++i) {
    HeadSet::Item item;
    if (ofHeads) item.kind = static_cast<HeadSet::Kind>(below(4));
    const bool range = item.kind == HeadSet::Kind::range;
    if (range || item.kind == HeadSet::Kind::kvHead) item.first = below(8);
    if (range) item.last = item.first + below(3);
    set.items.push_back(item);
  }
  return set;
}

std::string RandomLayers::name() {
  const std::string pieces[] = {"a", "Fenster", "\"", "\\", " ", "(", "then", "注意", "é", "…", ":", "😀"};
  std::string name;
  for (Index i = 0, count = 1 + below(4); i < count; ++i)
    name += pieces[static_cast<std::size_t>(below(std::ssize(pieces)))];
  return name;
}

}  // namespace headscope::attention::test
