#include "tests/attention/masks/random_mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace headscope::attention::test {
namespace {

constexpr const char* kLeaves[] = {
    "full",
    "causal",
    "causal_top_left",
    "padding",
    "window([1, 3, 5])",
    "window_back(2)",
    "window_both([2, 4])",
    "dilated(window=7, step=[2, 3])",
    "sinks(2)",
    "streaming(sinks=1, window=3)",
    "chunked(4)",
    "globals",
    "longformer(window=2)",
    "strided([3, 5])",
    "fixed(block=4, summary=1)",
    "bigbird(block=2, window=1, global=0, random=1, seed=5)",
    "prefix_lm",
    "documents(causal & !window(2), starts=[3, 8])",
    "packed([3, 8])",
    "shared_prefix([3, 8])",
    "block_diagonal(3)",
    "block_causal(4)",
    "block_diffusion(2)",
    "tree(prefix=3, parents=[-1, 0, 0, 1, 1, -1])",
    "neighborhood(height=3, width=4, kernel=3)",
    "neighborhood_z(height=3, width=4, kernel=3)",
    "image([2-5, 7-9])",
    "intervals",
    "painted(\"a\")",
    "painted(\"b\")",
    "file(\"c.npy\", visible)",
};

HeadSet randomSet(Random& random) {
  const Index first = pick(random, 3);
  if (pick(random, 3) == 0) return {{{pick(random, 2) ? HeadSet::Kind::even : HeadSet::Kind::odd, 0, 0}}};
  if (pick(random, 3) == 0) return {{{HeadSet::Kind::kvHead, pick(random, 2), 0}}};
  return {{{HeadSet::Kind::range, first, first + pick(random, 2)}}};
}

const CellTable* tableOf(const PatternUse& use, const MaskSources& sources) {
  const std::string& name = use.arguments[0]->text;
  if (use.kind == PatternKind::painted) return sources.paintings.at(name).get();
  return sources.files.at(fileKey(name, use.arguments[1]->text)).get();
}

bool holds(const KeyRuns& runs, Index key) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const KeyRun& r) { return r.begin <= key && key < r.end; });
}

std::optional<bool> saidByCells(const CellTable& table, Index head, Index row, Index key) {
  if (row >= table.queries || key >= table.keys || (table.heads > 1 && head >= table.heads)) return {};
  const Index slice = table.heads > 1 ? head : 0;
  const auto& cells = table.rows.at(static_cast<std::size_t>(slice * table.queries + row));
  if (cells && holds(cells->visible, key)) return true;
  if (cells && holds(cells->masked, key)) return false;
  return {};
}

std::optional<bool> saidByLayer(const Layer& layer, const MaskGeometry& geometry, const MaskSources& sources,
                                Index head, Index row, Index key) {
  const Index kvHead = head / (geometry.heads / geometry.kvHeads);
  if (!layer.on) return {};
  if (layer.heads && !layer.heads->contains(head, kvHead)) return {};
  if (layer.sequences && !layer.sequences->contains(geometry.sequence, -1)) return {};
  std::optional<bool> said;
  if (layer.isGroup()) {
    said = saidAbout(layer.group, geometry, sources, head, row, key);
  } else if (layer.pattern.kind == PatternKind::painted || layer.pattern.kind == PatternKind::file) {
    said = saidByCells(*tableOf(layer.pattern, sources), head, row, key);
  } else {
    Layer alone;
    alone.pattern = layer.pattern;
    const auto mask = compiled(MaskLayers{alone}, geometry);
    said = mask->visible(mask->variantOf(head), row, key);
  }
  if (said && layer.negated) said = !*said;
  return said;
}

}  // namespace

MaskLayers randomLayers(Random& random, int depth) {
  MaskLayers layers;
  const Index count = 1 + pick(random, 4);
  for (Index k = 0; k < count; ++k) {
    Layer layer;
    if (depth > 0 && pick(random, 3) == 0) {
      layer.group = randomLayers(random, depth - 1);
    } else {
      layer.pattern = layersOf(kLeaves[pick(random, std::size(kLeaves))]).at(0).pattern;
    }
    layer.combine = static_cast<Combine>(pick(random, 3));
    layer.negated = pick(random, 3) == 0;
    layer.on = pick(random, 8) > 0;
    if (pick(random, 4) == 0) layer.heads = randomSet(random);
    if (pick(random, 8) == 0) layer.sequences = HeadSet{{{HeadSet::Kind::range, 0, pick(random, 2)}}};
    layers.push_back(std::move(layer));
  }
  return layers;
}

MaskSources randomSources(Random& random, const MaskGeometry& geometry) {
  MaskSources sources;
  const auto heads = static_cast<std::size_t>(geometry.heads);
  std::vector<MaskPicture> wide, small;
  for (std::size_t head = 0; head + 1 < heads; ++head)
    wide.push_back(randomPicture(random, geometry.queries + 2, geometry.keys + 3, "#. "));
  small.push_back(randomPicture(random, 5, 6, "##.  "));
  sources.paintings["a"] = cellsOf(wide);
  sources.paintings["b"] = cellsOf(small);
  std::vector<MaskPicture> file;
  for (std::size_t head = 0; head < heads; ++head)
    file.push_back(randomPicture(random, geometry.queries, geometry.keys, "#."));
  sources.files[fileKey("c.npy", "visible")] = cellsOf(file);
  return sources;
}

std::optional<bool> saidAbout(const MaskLayers& layers, const MaskGeometry& geometry,
                              const MaskSources& sources, Index head, Index row, Index key) {
  std::optional<bool> before;
  for (const Layer& layer : layers) {
    const auto said = saidByLayer(layer, geometry, sources, head, row, key);
    if (!said) continue;
    if (!before || layer.combine == Combine::replace) {
      before = said;
    } else {
      before = layer.combine == Combine::all ? *before && *said : *before || *said;
    }
  }
  return before;
}

MaskPicture decidedCellByCell(const MaskLayers& layers, const MaskGeometry& geometry,
                              const MaskSources& sources, Index head) {
  MaskPicture picture;
  for (Index row = 0; row < geometry.queries; ++row) {
    picture.emplace_back();
    for (Index key = 0; key < geometry.keys; ++key)
      picture.back() += saidAbout(layers, geometry, sources, head, row, key).value_or(true) ? '#' : '.';
  }
  return picture;
}

}  // namespace headscope::attention::test
