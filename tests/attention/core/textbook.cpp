#include "tests/attention/core/textbook.h"

#include <cmath>
#include <limits>
#include <vector>

#include "attention/core/activations.h"
#include "attention/core/attention.h"
#include "attention/core/score_terms.h"

namespace headscope::attention::test {
namespace {

/// Converts one row of q·k to scores with all terms except the mask. `bias` and `added` have one number per
/// key or are null. Masked keys are computed too, so that no mask moves the boundary between vectorised and
/// single elements: each visible score has the same bits under every mask.
void applyTerms(const HeadTerms& terms, const float* bias, const float* added,
                Eigen::Map<Eigen::ArrayXf> scores) {
  scores *= terms.factor;
  if (bias)
    for (Index j = 0; j < scores.size(); ++j) scores[j] += bias[j];
  if (terms.cap != 0) scores = (scores / terms.cap).tanh() * terms.cap;
  // −inf is set, never added: NaN + (−inf) would stay NaN.
  if (added)
    for (Index j = 0; j < scores.size(); ++j)
      scores[j] = added[j] == kMinusInfinity ? kMinusInfinity : scores[j] + added[j];
}

/// Sets all scores outside the runs of visible keys to −inf.
void hideAllBut(const KeyRuns& runs, Eigen::Map<Eigen::ArrayXf> scores) {
  Index from = 0;
  for (const KeyRun& run : runs) {
    scores.segment(from, run.begin - from).setConstant(kMinusInfinity);
    from = run.end;
  }
  scores.tail(scores.size() - from).setConstant(kMinusInfinity);
}

/// Computes scores, weights and log-sum-exps of one head from its q and keys.
void scoreHead(const AttentionConfig& config, const MaskInput& mask, Index head, const MatrixView& keys,
               AttentionResult& result) {
  MutableMatrixView scores = result.scores[head], weights = result.weights[head];
  const MatrixView q = std::as_const(result.q)[head];
  scores.noalias() = q * keys.transpose();
  const HeadTerms terms = headTerms(config, mask, head, scores.rows(), scores.cols());
  KeyRuns runs;
  for (Index row = 0; row < scores.rows(); ++row) {
    Eigen::Map<Eigen::ArrayXf> line(scores.row(row).data(), scores.cols());
    applyTerms(terms, terms.biasOf(row), terms.addedOf(row), line);
    if (mask.formula) {
      mask.formula->visibleRuns(mask.formula->variantOf(head), row, runs);
      hideAllBut(runs, line);
    }
    result.lse(head, row) =
        softmaxRow(line.data(), line.size(), weights.row(row).data(), config.sinkOf(head)).lse;
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
  result.headOutput = Stack(config.heads, n, values[0].cols());

  for (Index kvHead = 0; kvHead < config.kvHeads; ++kvHead) {
    const auto g = static_cast<std::size_t>(kvHead);
    const ValueRows rows(values[g]);
    const Index first = kvHead * config.groupSize();
    for (Index head = first; head < first + config.groupSize(); ++head) {
      if (stop.stop_requested()) return;
      scoreHead(config, mask, head, keys[g], result);
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

}  // namespace headscope::attention::test
