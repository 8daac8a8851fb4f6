#include "app/mask_study.h"

#include <algorithm>

#include "app/mask_inputs.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::KeyRun;
using attention::MaskFormula;
using attention::Matrix;

namespace {

constexpr Index kCoarsest = 48, kFinest = 2048, kThumbnail = 48, kReachPicture = 512;

Index pooledSize(Index size, Index factor) {
  return (size + factor - 1) / factor;
}

/// Adds each run's overlap with each column of `factor` keys.
void addRuns(const attention::KeyRuns& runs, Index factor, float* columns) {
  for (const KeyRun& run : runs)
    for (Index at = run.begin; at < run.end;) {
      const Index next = std::min(run.end, (at / factor + 1) * factor);
      columns[at / factor] += static_cast<float>(next - at);
      at = next;
    }
}

StudiedMask studyOne(const attention::MaskLayers& layers, const attention::MaskGeometry& geometry,
                     const attention::MaskSources& sources, const MaskQuestion& question,
                     std::stop_token stop) {
  StudiedMask studied;
  const auto compiled = attention::compileMask(layers, geometry, sources);
  if (!compiled) {
    studied.error = compiled.error().message;
    return studied;
  }
  studied.formula = *compiled;
  const MaskFormula& mask = **compiled;
  const Index head = std::min(question.head, geometry.heads - 1);
  studied.variant = mask.variantOf(head);
  const Index longer = std::max(mask.queries(), mask.keys());
  Index factor = 1;
  while (pooledSize(longer, factor) > kFinest) factor *= 2;
  for (; studied.levels.empty() || pooledSize(longer, factor / 2) > kCoarsest; factor *= 2)
    studied.levels.push_back(drawMask(mask, studied.variant, factor));
  Index small = 1;
  while (pooledSize(longer, small) > kThumbnail) small *= 2;
  studied.thumbnails =
      attention::Stack(mask.variants(), pooledSize(mask.queries(), small), pooledSize(mask.keys(), small));
  for (Index variant = 0; variant < mask.variants() && !stop.stop_requested(); ++variant)
    studied.thumbnails[variant] = drawMask(mask, variant, small);
  studied.statistics = attention::measureMask(mask, studied.variant, 0, std::uint64_t{1} << 24, stop);
  studied.blocks = attention::mapBlocks(mask, studied.variant, question.blockSize, stop);
  const Index kvHead = head / std::max<Index>(1, geometry.heads / geometry.kvHeads);
  studied.formulaText = attention::maskFormula(layers, head, kvHead, geometry.sequence);
  for (const attention::Layer& layer : layers) {
    const Index kvGroup = head / std::max<Index>(1, geometry.heads / geometry.kvHeads);
    const bool applies = layer.on && (!layer.heads || layer.heads->contains(head, kvGroup)) &&
                         attention::leftOutBecause(layer, geometry).empty();
    const auto alone = applies ? attention::compileMask({layer}, geometry, sources) : compiled;
    studied.layers.push_back(applies && alone.ok() ? *alone : nullptr);
  }
  studied.seesFuture = !geometry.cross && seesFuture(mask);
  return studied;
}

/// The first layer that reaches each cell, the earliest of the cells that share a pixel.
Matrix drawReach(const attention::ReachMap& reach) {
  Index factor = 1;
  while (pooledSize(reach.tokens, factor) > kReachPicture) factor *= 2;
  Matrix out = Matrix::Constant(pooledSize(reach.tokens, factor), pooledSize(reach.tokens, factor),
                                render::kMaskedCell);
  for (Index i = 0; i < reach.tokens; ++i)
    for (Index j = 0; j < reach.tokens; ++j) {
      const Index layer = reach.layer[static_cast<std::size_t>(i * reach.tokens + j)];
      if (layer == 0) continue;
      float& cell = out(i / factor, j / factor);
      cell = std::max(cell, static_cast<float>(reach.layers + 1 - layer) / static_cast<float>(reach.layers));
    }
  return out;
}

void studyReach(const MaskQuestion& question, MaskStudy& study, std::stop_token stop) {
  const MaskFormula& mask = *study.mask.formula;
  if (study.geometry.cross || mask.queries() != mask.keys()) return;
  std::vector<Index> variants{study.mask.variant};
  if (question.allHeads) {
    variants.clear();
    for (Index variant = 0; variant < mask.variants(); ++variant) variants.push_back(variant);
  }
  study.reach = attention::reachAfter(mask, variants, question.layers, question.residual, stop);
  if (stop.stop_requested()) return;
  study.reachPicture = drawReach(study.reach);
  study.leak = attention::shortestLeak(mask, variants);
}

}  // namespace

Matrix drawMask(const MaskFormula& mask, Index variant, Index factor) {
  const Index rows = pooledSize(mask.queries(), factor), cols = pooledSize(mask.keys(), factor);
  Matrix out = Matrix::Zero(rows, cols);
  attention::KeyRuns runs;
  for (Index row = 0; row < rows; ++row) {
    const Index first = row * factor, last = std::min(mask.queries(), first + factor);
    bool dead = true;
    for (Index i = first; i < last; ++i) {
      mask.visibleRuns(variant, i, runs);
      dead = dead && runs.empty();
      addRuns(runs, factor, out.row(row).data());
    }
    for (Index col = 0; col < cols; ++col) {
      float& cell = out(row, col);
      const Index width = std::min(mask.keys(), (col + 1) * factor) - col * factor;
      cell = dead        ? render::kDeadCell
             : cell == 0 ? render::kMaskedCell
                         : cell / static_cast<float>((last - first) * width);
    }
  }
  return out;
}

MaskStudy studyMask(const MaskQuestion& question, std::stop_token stop) {
  MaskStudy study;
  study.question = question;
  TokenBatch batch = tokenizeBatch(question.setup);
  if (batch.error || batch.lines.empty()) return study;
  study.lines = std::move(batch.lines);
  study.sequence = std::clamp<Index>(question.sequence, 0, static_cast<Index>(study.lines.size()) - 1);
  study.geometry = geometryOf(question.setup, *study.line(), study.sequence);
  const auto sources = maskSources(question.setup);
  if (!sources) {
    study.mask.error = sources.error().message;
    return study;
  }
  const MaskSetup& masks = question.setup.mask;
  study.mask = studyOne(masks.layers, study.geometry, *sources, question, stop);
  if (masks.compare && !stop.stop_requested())
    study.other = studyOne(masks.other, study.geometry, *sources, question, stop);
  if (!study.mask.error && !stop.stop_requested()) studyReach(question, study, stop);
  return study;
}

}  // namespace headscope::app
