#include "attention/models/patch.h"

#include <fmt/core.h>

#include "attention/models/pass_result.h"

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

namespace {

bool isFor(const Patch& patch, Index layer, Piece piece, Index head) {
  return patch.layer == layer && patch.piece == piece && (!patch.head || *patch.head == head);
}

const LayerResult* recordedLayer(const PassResult& run, Index layer) {
  const auto found = std::find_if(run.layers.begin(), run.layers.end(),
                                  [&](const auto& result) { return result->layer == layer; });
  return found == run.layers.end() ? nullptr : found->get();
}

std::optional<MatrixView> whole(const Matrix* matrix) {
  if (!matrix || matrix->size() == 0) return std::nullopt;
  return MatrixView(matrix->data(), matrix->rows(), matrix->cols());
}

/// Where a layer's result has a piece that belongs to heads; null for the others.
Stack LayerResult::*headsMember(Piece piece) {
  switch (piece) {
    case Piece::stream:
    case Piece::middle:
    case Piece::mlp:
      break;
    case Piece::queries:
      return &LayerResult::q;
    case Piece::keys:
      return &LayerResult::k;
    case Piece::values:
      return &LayerResult::v;
    case Piece::pattern:
      return &LayerResult::weights;
    case Piece::head:
      return &LayerResult::headOutput;
  }
  return nullptr;
}

/// What a run recorded for a piece; nothing if it wasn't kept.
std::optional<MatrixView> recordedPiece(const PassResult& run, Index layer, Piece piece, Index head) {
  if (piece == Piece::stream) return whole(recordedStream(run, layer));
  const LayerResult* const result = recordedLayer(run, layer);
  if (!result) return std::nullopt;
  const auto member = headsMember(piece);
  if (!member) return whole(piece == Piece::middle ? &result->between : &result->mlpAdded);
  const Stack& heads = result->*member;
  // A pattern needs all heads: a subset doesn't record which they are.
  const bool all = piece != Piece::pattern || heads.count() == result->config.heads;
  if (!all || head >= heads.count() || heads.empty()) return std::nullopt;
  return heads[head];
}

bool ofKeys(Piece piece) {
  return piece == Piece::keys || piece == Piece::values;
}

/// The number of heads that a piece has; 1 if it exists once per layer.
Index headsOf(const ModelConfig& config, Piece piece) {
  return !headsMember(piece) ? 1 : ofKeys(piece) ? config.kvHeads : config.heads;
}

/// The length of a piece's row; a pattern's has one entry per token of the run.
Index widthOf(const ModelConfig& config, Piece piece, Index tokens) {
  if (!headsMember(piece)) return config.modelDim;
  if (piece == Piece::values || piece == Piece::head) return config.valueDim();
  return piece == Piece::pattern ? tokens : config.headDim;
}

/// Returns an Error unless `partners` maps each of `tokens` to one of the other text's `recorded` tokens or
/// −1; without partners, unless the counts are equal.
Status checkTokens(const std::vector<Index>* partners, Index tokens, Index recorded) {
  if (!partners && recorded != tokens)
    return Error{fmt::format("the source run has {} tokens, expected the text's {}", recorded, tokens)};
  if (!partners) return success();
  if (std::ssize(*partners) != tokens)
    return Error{
        fmt::format("{} tokens are aligned with the other text, expected {}", partners->size(), tokens)};
  for (const Index row : *partners)
    if (row >= recorded)
      return Error{fmt::format("token {} of the other text was requested, which has {}", row, recorded)};
  return success();
}

Status checkSource(const Patch& patch, const TakenFrom& from, const ModelConfig& config, Index tokens,
                   Index source) {
  const bool cross = config.cross(), crossPattern = cross && patch.piece == Piece::pattern;
  const bool rowsAreKeys = cross && ofKeys(patch.piece);
  const std::vector<Index>* const rows = (rowsAreKeys ? from.sourceRows : from.rows).get();
  for (Index head = patch.head.value_or(0); head < patch.head.value_or(headsOf(config, patch.piece) - 1) + 1;
       ++head) {
    const auto piece = recordedPiece(*from.run, patch.layer, patch.piece, head);
    if (!piece)
      return Error{
          fmt::format("the source run for layer {} didn't keep the values to patch in", patch.layer)};
    if (const Index width = widthOf(config, patch.piece, piece->rows());
        !crossPattern && piece->cols() != width)
      return Error{fmt::format("the source run has rows of {} numbers, expected {}: it is from another model",
                               piece->cols(), width)};
    if (const Status fits = checkTokens(rows, rowsAreKeys ? source : tokens, piece->rows()); !fits)
      return fits;
    if (!crossPattern) continue;
    if (const Status fits = checkTokens(from.sourceRows.get(), source, piece->cols()); !fits) return fits;
  }
  return success();
}

/// Replaces the row of `token` by the other run's.
void take(const TakenFrom& from, const MatrixView& recorded, Piece piece, Index token,
          Eigen::Ref<Eigen::RowVectorXf> row) {
  const std::vector<Index>* const rows =
      (ofKeys(piece) && from.sourceRows ? from.sourceRows : from.rows).get();
  const std::vector<Index>* const keys = (from.sourceRows ? from.sourceRows : from.rows).get();
  const Index other = rows ? (*rows)[asSize(token)] : token;
  if (other < 0) return;
  if (piece != Piece::pattern || !keys) {
    row = recorded.row(other).head(row.size());
    return;
  }
  for (Index key = 0; key < row.size(); ++key) {
    const Index at = (*keys)[asSize(key)];
    row[key] = at < 0 || at >= recorded.cols() ? 0 : recorded(other, at);
  }
}

}  // namespace

const Matrix* recordedStream(const PassResult& run, Index layer) {
  const LayerResult* const before = layer > 0 ? recordedLayer(run, layer - 1) : nullptr;
  const Matrix* const stream = before ? &before->hidden : layer == 0 ? &run.embedded : nullptr;
  return stream && stream->size() > 0 ? stream : nullptr;
}

Status checkPatch(const Patch& patch, const ModelConfig& config, Index tokens, Index source) {
  const Index layers = config.layerCount() + (patch.piece == Piece::stream ? 1 : 0);
  if (patch.layer < 0 || patch.layer >= layers)
    return Error{fmt::format("the layer to patch is {}, expected 0 to {}", patch.layer, layers - 1)};
  const Index heads = headsOf(config, patch.piece);
  if (patch.head && (*patch.head < 0 || *patch.head >= heads))
    return Error{fmt::format("the {} to patch is {}, expected 0 to {}",
                             heads == config.heads ? "head" : "KV head", *patch.head, heads - 1)};
  if (patch.piece == Piece::mlp && !config.feeds(patch.layer))
    return Error{"the piece to patch is an MLP, but this layer has none"};
  if (patch.piece == Piece::middle && config.order == BlockOrder::parallel)
    return Error{
        "the piece to patch is the stream between attention and MLP, but this model computes both at once"};
  if (patch.firstToken < 0 || patch.tokens.value_or(0) < 0)
    return Error{fmt::format("{} tokens are to be patched from token {}, expected a part of the text",
                             patch.tokens.value_or(tokens), patch.firstToken)};
  const auto* from = std::get_if<TakenFrom>(&patch.by);
  return from ? checkSource(patch, *from, config, tokens, source) : success();
}

bool anyPatch(std::span<const Patch> patches, Index layer, Piece piece, Index head) {
  return std::ranges::any_of(patches, [&](const Patch& patch) { return isFor(patch, layer, piece, head); });
}

void applyPatches(std::span<const Patch> patches, Index layer, Piece piece, Index head, PatchRows rows,
                  MutableMatrixView numbers) {
  for (const Patch& patch : patches) {
    if (!isFor(patch, layer, piece, head)) continue;
    const Index first = std::clamp<Index>(patch.firstToken - rows.first, 0, rows.count);
    const Index end =
        patch.tokens ? std::clamp<Index>(patch.firstToken + *patch.tokens - rows.first, first, rows.count)
                     : rows.count;
    auto part = numbers.middleRows(first, end - first);
    if (const auto* scaled = std::get_if<Scaled>(&patch.by)) {
      part *= scaled->factor;
    } else if (std::holds_alternative<MeanOfRows>(patch.by)) {
      if (rows.unpadded == 0) continue;
      const Eigen::RowVectorXf mean = numbers.topRows(rows.unpadded).colwise().mean();
      part.rowwise() = mean;
    } else {
      const auto& from = std::get<TakenFrom>(patch.by);
      const auto recorded = recordedPiece(*from.run, layer, piece, head);
      for (Index row = first; row < end; ++row)
        take(from, *recorded, piece, rows.first + row, numbers.row(row));
    }
  }
}

void applyPatches(std::span<const std::vector<Patch>> runs, Index layer, Piece piece, PatchRows rows,
                  Matrix& numbers) {
  for (std::size_t run = 0; run < runs.size(); ++run)
    applyPatches(
        runs[run], layer, piece, 0, rows,
        {numbers.data() + static_cast<Index>(run) * rows.count * numbers.cols(), rows.count, numbers.cols()});
}

}  // namespace headscope::attention
