#include <bit>

#include "app/compute/cache/cache_studies.h"
#include "app/compute/layer/layer_stack.h"
#include "app/compute/layer/mask_inputs.h"
#include "attention/core/extremes.h"
#include "attention/core/parallel.h"
#include "render/heatmap.h"

namespace headscope::app {

namespace {

using attention::Matrix;
using attention::Stack;

bool isMark(float value) {
  return value == render::kMaskedCell || value == render::kDeadCell;
}

/// Returns a number that is greater the farther `value` is from 0, and greatest for NaN: its bits, with the
/// sign as the lowest, which is 1 for positive values. Compilers vectorize the maximum of signed numbers.
std::int32_t strengthOf(float value) {
  return static_cast<std::int32_t>(std::rotl(std::bit_cast<std::uint32_t>(value), 1) ^ 0x80000001u);
}

float ofStrength(std::int32_t strength) {
  return std::bit_cast<float>(std::rotr(static_cast<std::uint32_t>(strength) ^ 0x80000001u, 1));
}

/// Returns the strongest value of a block that has marks, or a mark if it has nothing else.
float strongestOfMarked(const Eigen::Ref<const Matrix>& block) {
  float best = render::kMaskedCell;
  for (const float value : block.reshaped()) {
    if (isMark(value) ? best == render::kMaskedCell : isMark(best) || strengthOf(value) > strengthOf(best))
      best = value;
  }
  return best;
}

/// Pools one layer of K or V. Returns the largest finite magnitude.
float fillBand(const attention::MatrixView& values, attention::NumberFormat format, CacheGrain grain,
               attention::MutableMatrixView picture) {
  // fp32 is stored unchanged and needs no copy.
  const Matrix pooled = format == attention::NumberFormat::fp32
                            ? strongestOf(values, grain.tokens, grain.dims)
                            : strongestOf(attention::quantised(values, format), grain.tokens, grain.dims);
  picture = pooled.transpose();
  return attention::largestFinite(pooled);
}

}  // namespace

Matrix strongestOf(const Eigen::Ref<const Matrix>& values, Index rowFactor, Index colFactor) {
  Matrix pooled(attention::pooledSize(values.rows(), rowFactor),
                attention::pooledSize(values.cols(), colFactor));
  std::vector<std::int32_t> strengths(static_cast<std::size_t>(values.cols()));
  for (Index row = 0; row < pooled.rows(); ++row) {
    const Index top = row * rowFactor, rows = std::min(rowFactor, values.rows() - top);
    std::ranges::fill(strengths, std::numeric_limits<std::int32_t>::min());
    for (Index i = top; i < top + rows; ++i) {
      const float* const from = values.row(i).data();
      for (std::size_t col = 0; col < strengths.size(); ++col)
        strengths[col] = std::max(strengths[col], strengthOf(from[col]));
    }
    for (Index at = 0; at < pooled.cols(); ++at) {
      const Index left = at * colFactor, cols = std::min(colFactor, values.cols() - left);
      const float best =
          ofStrength(*std::max_element(strengths.begin() + left, strengths.begin() + left + cols));
      pooled(row, at) = isMark(best) ? strongestOfMarked(values.block(top, left, rows, cols)) : best;
    }
  }
  return pooled;
}

CacheGrain cacheGrain(const attention::AttentionResult& result, Index maxRows, Index maxCols) {
  const auto grain = [](Index size, Index most) {
    return std::max<Index>(1, attention::pooledSize(size, std::max<Index>(most, 1)));
  };
  return {grain(result.k.cols(), maxRows), grain(result.k.rows(), maxCols)};
}

Stack cachePicture(const attention::AttentionResult& result, CacheGrain grain, attention::NumberFormat stored,
                   std::stop_token stop) {
  const Index kvHeads = result.k.count();
  Stack picture(2 * kvHeads, attention::pooledSize(result.k.cols(), grain.dims),
                attention::pooledSize(result.k.rows(), grain.tokens));
  std::vector<float> most(static_cast<std::size_t>(2 * kvHeads));
  attention::forEach(2 * kvHeads, stop, [&](Index band) {
    const Stack& values = band % 2 == 0 ? result.k : result.v;
    most[static_cast<std::size_t>(band)] = fillBand(values[band / 2], stored, grain, picture[band]);
  });
  for (Index offset = 0; offset < 2; ++offset) {
    float all = 0;
    for (Index band = offset; band < 2 * kvHeads; band += 2)
      all = std::max(all, most[static_cast<std::size_t>(band)]);
    for (Index band = offset; band < 2 * kvHeads && all > 0; band += 2) picture[band] /= all;
  }
  return picture;
}

namespace {

using attention::AttentionConfig;

/// Returns the number of keys that a query sees through any head of the group.
Index visibleKeys(const Stack& scores, Index firstHead, Index heads, Index query) {
  Index visible = 0;
  for (Index key = 0; key < scores.cols(); ++key)
    for (Index h = firstHead; h < firstHead + heads; ++h)
      if (scores.at(h, query, key) != -std::numeric_limits<float>::infinity()) {
        ++visible;
        break;
      }
  return visible;
}

/// Counts the work of the first `tokens` queries; the rest are padding.
void countWork(const AttentionConfig& config, const Stack& scores, Index tokens, CacheField& field,
               const std::stop_token& stop) {
  const auto d = static_cast<double>(config.modelDim), s = static_cast<double>(config.headDim);
  const auto heads = static_cast<double>(config.heads), kvHeads = static_cast<double>(config.kvHeads);
  const double projections = 4 * d * heads * s + 4 * d * kvHeads * s;
  double before = 0;
  for (Index query = 0; query < tokens && !stop.stop_requested(); ++query) {
    Index read = 0;
    double pairs = 0;
    for (Index g = 0; g < config.kvHeads; ++g)
      read += visibleKeys(scores, g * config.groupSize(), config.groupSize(), query);
    for (Index h = 0; h < config.heads; ++h) pairs += static_cast<double>(visibleKeys(scores, h, 1, query));
    const double own = projections + pairs * (4 * s + 5);
    field.read.push_back(read);
    field.flops.push_back(own);
    field.uncachedFlops.push_back(before += own);
  }
}

}  // namespace

CacheField makeCacheField(const FieldQuestion& question, std::stop_token stop) {
  const SequenceSnapshot& sequence =
      question.snapshot->sequences[static_cast<std::size_t>(question.sequence)];
  const attention::AttentionResult& result = sequence.attention;
  CacheField field;
  field.grain = cacheGrain(result, question.maxRows, question.maxCols);
  field.picture = cachePicture(result, field.grain, question.stored, stop);
  if (question.snapshot->causal)
    countWork(question.snapshot->config, result.scores, sequence.keyLength, field, stop);
  return field;
}

namespace {

using attention::AttentionResult;

float longestRow(const Stack& stack) {
  float most = 0;
  for (Index i = 0; i < stack.count(); ++i)
    most = attention::larger(most, attention::largestMagnitude(stack[i].rowwise().norm()));
  return most;
}

/// The projections and inputs of a synthetic layer. A model's layer has none; its q, k and v are in the
/// snapshot.
struct Made {
  std::shared_ptr<const attention::Projections> projections;
  attention::Matrix x;
};
std::optional<Made> madeLine(const Snapshot& snapshot, Index sequence, Resources& resources) {
  const Setup& setup = snapshot.setup;
  if (setup.subject.opened) return std::nullopt;
  const TokenBatch batch = tokenizeBatch(setup);
  if (batch.error || sequence >= std::ssize(batch.lines)) return std::nullopt;
  const auto longest = static_cast<Index>(batch.lines.front().queries.size());
  const auto projections = resources.inputs.projections(setup, longest);
  const auto inputs = shownInputs(setup, batch.lines, resources);
  if (!projections || !inputs) return std::nullopt;
  return Made{*projections, (**inputs)[static_cast<std::size_t>(sequence)].x};
}

/// The most multiply-adds of a proof: one or two seconds.
constexpr double kMaxWork = 1e10;

/// Returns the multiply-adds of one step: its projections, and the keys and values it reads.
double workOfStep(const attention::AttentionConfig& config, Index tokens) {
  const double projections = static_cast<double>(2 * config.modelDim * config.headDim) *
                             static_cast<double>(config.heads + config.kvHeads);
  return projections + static_cast<double>(2 * config.heads * config.headDim) * static_cast<double>(tokens);
}

/// Compares rows from `from` on, computed with the cache, with those of the full pass.
void compareRows(const AttentionResult& part, const AttentionResult& full, Index from, DecodeProof& proof) {
  for (Index head = 0; head < part.headOutput.count(); ++head)
    for (Index row = 0; row < part.headOutput.rows(); ++row)
      for (Index dim = 0; dim < part.headOutput.cols(); ++dim) {
        const float cached = part.headOutput.at(head, row, dim),
                    whole = full.headOutput.at(head, from + row, dim);
        const float apart = std::abs(cached - whole);
        // NaN counts as the largest difference.
        if (apart <= proof.maxDifference || std::isnan(proof.maxDifference)) continue;
        proof.maxDifference = apart;
        std::tie(proof.head, proof.token, proof.cached, proof.full) =
            std::tuple(head, from + row, cached, whole);
      }
}

}  // namespace

float decodeTolerance(const attention::AttentionConfig& config, const SequenceSnapshot& sequence) {
  constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
  const AttentionResult& result = sequence.attention;
  const auto roundingOf = [](Index terms) { return kEpsilon * std::sqrt(static_cast<float>(terms)); };
  const float scores = roundingOf(2 * config.modelDim + config.headDim) * longestRow(result.q) *
                       longestRow(result.k) * std::abs(attention::scoreFactor(config));
  const float sums = roundingOf(sequence.keyLength + config.heads * config.headDim + config.modelDim);
  float largest = attention::largestMagnitude(result.output);
  for (Index head = 0; head < result.headOutput.count(); ++head)
    largest = attention::larger(largest, attention::largestMagnitude(result.headOutput[head]));
  return largest * (2 * scores + sums);
}

DecodeProof proveDecode(const ProofQuestion& question, Resources& resources, std::stop_token stop) {
  const Snapshot& snapshot = *question.snapshot;
  const attention::AttentionConfig& config = snapshot.config;
  const SequenceSnapshot& sequence = snapshot.sequences[static_cast<std::size_t>(question.sequence)];
  const AttentionResult& full = sequence.attention;
  const Index n = sequence.queryLength;
  DecodeProof proof;
  if (!sequence.decode.applies || n == 0) return proof;
  const std::optional<Made> made = madeLine(snapshot, question.sequence, resources);
  attention::KvCache cache(config, n);
  const auto append = [&](Index from, Index count) {
    const attention::MaskInput mask = maskPartOf(sequence.mask, from, count);
    const AttentionResult part =
        made ? cache.append(*made->projections, made->x.middleRows(from, count), mask, stop)
             : cache.appendHeads(config, rowsOf(full.q, from, count), rowsOf(full.k, from, count),
                                 rowsOf(full.v, from, count), mask, stop);
    if (!stop.stop_requested()) compareRows(part, full, from, proof);
  };
  proof.tolerance = decodeTolerance(config, sequence);
  proof.prefill = std::min(snapshot.setup.prefill, n);
  const Index chunk = question.chunk > 0 ? question.chunk : proof.prefill;
  for (Index row = 0; row < proof.prefill && !stop.stop_requested(); row += chunk)
    append(row, std::min(chunk, proof.prefill - row));
  double work = 0;
  for (Index row = proof.prefill; row < n && work < kMaxWork && !stop.stop_requested(); ++row) {
    append(row, 1);
    ++proof.steps;
    work += workOfStep(config, row);
  }
  proof.left = n - proof.prefill - proof.steps;
  return proof;
}

}  // namespace headscope::app
