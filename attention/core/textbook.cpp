#include "attention/core/textbook.h"

#include <cmath>
#include <limits>
#include <vector>

#include "attention/core/attention_parts.h"
#include "attention/core/positions.h"
#include "attention/core/softmax.h"

namespace headscope::attention {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// A head's slice of a mask stack, which may serve all heads at once.
const float* maskRow(const Stack& stack, Index head, Index row) {
  return stack[stack.count() == 1 ? 0 : head].row(row).data();
}

/// One row of q·k into scaled, biased and capped scores; `bias` has one number for each, or is null. Masked
/// keys are treated like the rest, so that no mask moves the boundary between vectorised and single elements:
/// each visible score has the same bits under every mask.
void scaleRow(const AttentionConfig& config, const float* bias, Eigen::Map<Eigen::ArrayXf> scores) {
  scores *= config.effectiveScale();
  // Distances shrink as keys go on: the biases lie the other way round.
  if (bias)
    for (Index j = 0; j < scores.size(); ++j) scores[j] += bias[-j];
  if (config.softcap) scores = (scores / *config.softcap).tanh() * *config.softcap;
}

/// Sets −inf where a key is not visible. Overwritten, never added: NaN + (−inf) would stay NaN.
void hideKeys(const MaskInput& mask, const VisibleKeys& keys, Index head, Index row,
              Eigen::Map<Eigen::ArrayXf> scores) {
  if (!mask.additive.empty()) {
    const float* added = maskRow(mask.additive, head, row);
    for (Index j = 0; j < scores.size(); ++j)
      scores[j] = added[j] == kMinusInfinity ? kMinusInfinity : scores[j] + added[j];
  }
  if (!mask.masked.empty()) {
    const float* masked = maskRow(mask.masked, head, row);
    for (Index j = 0; j < scores.size(); ++j) scores[j] = masked[j] != 0 ? kMinusInfinity : scores[j];
  }
  scores.segment(keys.sinkEnd, keys.begin - keys.sinkEnd).setConstant(kMinusInfinity);
  scores.tail(scores.size() - keys.end).setConstant(kMinusInfinity);
}

/// The same for what lies between and beyond a formula's runs.
void hideAllBut(const KeyRuns& runs, Eigen::Map<Eigen::ArrayXf> scores) {
  Index from = 0;
  for (const KeyRun& run : runs) {
    scores.segment(from, run.begin - from).setConstant(kMinusInfinity);
    from = run.end;
  }
  scores.tail(scores.size() - from).setConstant(kMinusInfinity);
}

/// Scores, weights and log-sum-exp of one head from its q and keys.
void scoreHead(const AttentionConfig& config, const MaskInput& mask, const std::vector<VisibleKeys>& visible,
               Index head, const MatrixView& keys, AttentionResult& result) {
  MutableMatrixView scores = result.scores[head], weights = result.weights[head];
  const MatrixView q = std::as_const(result.q)[head];
  scores.noalias() = q * keys.transpose();
  const std::vector<float> bias = positionBias(config, head, scores.rows(), scores.cols());
  const float* const nearest =
      bias.empty() ? nullptr : bias.data() + config.cacheLength + scores.cols() - 1;  // key 0, row 0
  KeyRuns runs;
  for (Index row = 0; row < scores.rows(); ++row) {
    Eigen::Map<Eigen::ArrayXf> line(scores.row(row).data(), scores.cols());
    scaleRow(config, nearest ? nearest + row : nullptr, line);
    hideKeys(mask, visible[static_cast<std::size_t>(row)], head, row, line);
    if (mask.formula) {
      mask.formula->visibleRuns(mask.formula->variantOf(head), row, runs);
      hideAllBut(runs, line);
    }
    result.lse(head, row) = softmaxRow(line.data(), line.size(), weights.row(row).data()).lse;
  }
  if (config.dropout.probability > 0) dropWeights(config.dropout, head, config.cacheLength, weights);
}

}  // namespace

Matrix applyTextbook(const Linear& linear, const Eigen::Ref<const Matrix>& x) {
  Matrix y = x * linear.weight.transpose();
  if (linear.bias.size() != 0) y.rowwise() += linear.bias.transpose();
  return y;
}

void attendHeadsTextbook(const AttentionConfig& config, const MaskInput& mask,
                         std::span<const MatrixView> keys, std::span<const MatrixView> values,
                         AttentionResult& result, std::stop_token stop) {
  requireHeadShapes(config, keys, values, result.q);
  const Index n = result.q.rows(), m = keys[0].rows();
  requireMaskShape(config, mask, n, m);
  result.scores = Stack(config.heads, n, m);
  result.weights = Stack(config.heads, n, m);
  result.lse = Matrix::Zero(config.heads, n);
  result.headOutput = Stack(config.heads, n, config.headDim);

  std::vector<VisibleKeys> visible;
  for (Index row = 0; row < n; ++row)
    visible.push_back(visibleKeys(config, mask.keyLength, config.cacheLength + row, m));
  for (Index kvHead = 0; kvHead < config.kvHeads; ++kvHead) {
    const auto g = static_cast<std::size_t>(kvHead);
    const ValueRows rows(values[g]);
    const Index first = kvHead * config.groupSize();
    for (Index head = first; head < first + config.groupSize(); ++head) {
      if (stop.stop_requested()) return;
      scoreHead(config, mask, visible, head, keys[g], result);
      rows.weightedSum(std::as_const(result.weights)[head], std::as_const(result.scores)[head],
                       result.headOutput[head]);
    }
  }
}

AttentionResult attendTextbook(const AttentionConfig& config, const Projections& projections,
                               const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                               const MaskInput& mask, std::stop_token stop) {
  requireAttendShapes(config, projections, x, context, mask);
  AttentionResult result;
  result.q = splitHeads(applyTextbook(projections.q, x), config.heads);
  result.k = splitHeads(applyTextbook(projections.k, context), config.kvHeads);
  result.v = splitHeads(applyTextbook(projections.v, context), config.kvHeads);
  rotate(config, result);
  attendHeadsTextbook(config, mask, slices(result.k), slices(result.v), result, stop);
  result.output = applyTextbook(projections.o, mergeHeads(result.headOutput));
  return result;
}

}  // namespace headscope::attention
