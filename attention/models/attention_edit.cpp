#include "attention/models/attention_edit.h"

#include <fmt/core.h>

#include <algorithm>

#include "attention/core/score_terms.h"

namespace headscope::attention {
namespace {

bool isFor(const AttentionEdit& edit, Index layer) {
  return !edit.layer || *edit.layer == layer;
}

/// The layers as one group, as if in brackets.
Layer grouped(MaskLayers layers) {
  Layer group;
  group.group = std::move(layers);
  return group;
}

/// The model's own mask combined with those of the edits.
MaskLayers maskLayers(const ModelConfig& config, const std::vector<AttentionEdit>& edits, Index layer) {
  MaskLayers layers = parseMask(config.maskText(layer)).layers;
  for (const AttentionEdit& edit : edits) {
    if (!isFor(edit, layer)) continue;
    if (edit.replacesMask)
      layers = edit.mask;
    else if (!edit.mask.empty())
      layers.push_back(grouped(edit.mask));
  }
  return layers;
}

}  // namespace

LayerAttentions::LayerAttentions(const ModelConfig& config, const std::vector<AttentionEdit>& edits,
                                 PassRows rows, const MaskedLine& line, const MaskSources& sources)
    : config_(config), edits_(edits), rows_(rows), sources_(sources) {
  // Masks cover the whole text, because tables and parts count rows from its start; the pass uses the last
  // rows.
  geometry_.queries = rows.tokens();
  geometry_.keys = config.cross() ? rows.source : rows.tokens();
  geometry_.cross = config.cross();
  geometry_.keyLength = config.cross() ? rows.source : std::min(line.unpadded, rows.tokens());
  geometry_.sequence = line.sequence;
  geometry_.heads = config.heads;
  geometry_.kvHeads = config.kvHeads;
  geometry_.structure = line.structure;
}

Result<std::shared_ptr<const MaskFormula>> LayerAttentions::maskOf(Index layer) {
  MaskLayers layers = maskLayers(config_, edits_, layer);
  for (const auto& [known, formula] : compiled_)
    if (known == layers) return formula;
  auto whole = compileMask(layers, geometry_, sources_);
  if (!whole) return whole.error();
  compiled_.emplace_back(std::move(layers), maskPart(*whole, rows_.first, rows_.count, geometry_.keys));
  return compiled_.back().second;
}

Status LayerAttentions::addAdditive(const AttentionEdit& edit, Index layer, Stack& sum) const {
  const Stack& added = *edit.additive;
  const bool fits = config_.cross() ? added.cols() == geometry_.keys : added.rows() == added.cols();
  if ((added.count() != 1 && added.count() != config_.heads) || !fits || added.rows() < rows_.tokens())
    return Error{
        fmt::format("the numbers added to layer {}'s scores are [{}, {}, {}], expected [1 or {}, N, N] "
                    "with N at least {}",
                    layer, added.count(), added.rows(), added.cols(), config_.heads, rows_.tokens())};
  if (sum.empty()) sum = Stack(config_.heads, rows_.count, geometry_.keys);
  for (Index head = 0; head < config_.heads; ++head)
    sum[head] += added[sliceOf(added, head)].block(rows_.first, 0, rows_.count, geometry_.keys);
  return success();
}

Result<LayerAttention> LayerAttentions::of(Index layer) {
  LayerAttention attention{config_.attention(layer), {}};
  attention.config.cacheLength = rows_.first;
  for (const AttentionEdit& edit : edits_) {
    if (!isFor(edit, layer)) continue;
    joinSettings(edit, attention.config);
    if (edit.additive && !edit.additive->empty())
      if (const Status status = addAdditive(edit, layer, attention.mask.additive); !status)
        return status.error();
  }
  if (const Status status = validate(attention.config); !status) return status.error();
  auto formula = maskOf(layer);
  if (!formula) return formula.error();
  attention.mask.formula = std::move(*formula);
  return attention;
}

}  // namespace headscope::attention
