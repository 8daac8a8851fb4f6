#include "attention/core/attention.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/core/positions.h"
#include "attention/core/random.h"
#include "attention/core/saturating.h"
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

/// Drawn per head and absolute position, so that a cached decode drops what the full pass drops.
void dropWeights(const Dropout& dropout, Index head, Index firstPosition, MutableMatrixView weights) {
  const float rest = 1 / (1 - dropout.probability);
  const std::uint64_t headSeed = mixSeed(dropout.seed, static_cast<std::uint64_t>(head));
  for (Index row = 0; row < weights.rows(); ++row) {
    Random random(mixSeed(headSeed, static_cast<std::uint64_t>(firstPosition + row)));
    for (Index j = 0; j < weights.cols(); ++j)
      weights(row, j) = random.uniform() < dropout.probability ? 0.0f : weights(row, j) * rest;
  }
}

/// V = finite part + exceptions. The product of weights and V runs over the finite part alone, where
/// the zero weight of a masked key adds an exact 0; NaN and infinity, which 0 would not silence,
/// are then added to just those rows that see them.
class ValueRows {
 public:
  explicit ValueRows(const MatrixView& values) : values_(values) {
    if (values.allFinite()) return;
    copy_ = values;
    for (Index j = 0; j < values.rows(); ++j)
      for (Index t = 0; t < values.cols(); ++t)
        if (!std::isfinite(values(j, t))) {
          exceptions_.push_back({j, t, values(j, t)});
          copy_(j, t) = 0;
        }
  }

  /// output = weights · V; a key is seen where its score is not −inf.
  void weightedSum(const MatrixView& weights, const MatrixView& scores, MutableMatrixView output) const {
    output.noalias() = weights * finite();
    for (Index row = 0; row < output.rows(); ++row)
      for (const auto& [key, column, value] : exceptions_)
        if (scores(row, key) != kMinusInfinity) output(row, column) += weights(row, key) * value;
  }

 private:
  struct Exception {
    Index key, column;
    float value;
  };
  MatrixView finite() const {
    return exceptions_.empty() ? values_ : MatrixView(copy_.data(), copy_.rows(), copy_.cols());
  }

  MatrixView values_;
  Matrix copy_;  ///< with zeros where values_ is not finite; empty where all of it is
  std::vector<Exception> exceptions_;
};

/// Fits everything attendHeads reads against the config; both shapes stand in the message.
void requireHeadShapes(const AttentionConfig& config, std::span<const MatrixView> keys,
                       std::span<const MatrixView> values, const Stack& q) {
  const Status status = validate(config);
  require(status.ok(), status ? "" : status.error().message);
  require(q.count() == config.heads && q.cols() == config.headDim,
          "q is [" + std::to_string(q.count()) + ", n, " + std::to_string(q.cols()) + "], expected [" +
              std::to_string(config.heads) + ", n, " + std::to_string(config.headDim) + "]");
  const auto kvHeads = static_cast<std::size_t>(config.kvHeads);
  require(keys.size() == kvHeads && values.size() == kvHeads,
          std::to_string(keys.size()) + " heads of keys and " + std::to_string(values.size()) +
              " of values, expected kvHeads = " + std::to_string(kvHeads));
  const std::string expected = shapeText(keys[0].rows(), config.headDim);
  for (std::size_t g = 0; g < kvHeads; ++g)
    for (const MatrixView* view : {&keys[g], &values[g]})
      require(view->rows() == keys[0].rows() && view->cols() == config.headDim,
              "keys or values of kv head " + std::to_string(g) + " are " +
                  shapeText(view->rows(), view->cols()) + ", expected " + expected);
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

std::vector<MatrixView> slices(const Stack& stack) {
  std::vector<MatrixView> views;
  for (Index i = 0; i < stack.count(); ++i) views.push_back(stack[i]);
  return views;
}

}  // namespace

Stack splitHeads(const Eigen::Ref<const Matrix>& y, Index count) {
  require(count >= 1 && y.cols() % count == 0,
          shapeText(y.rows(), y.cols()) + " does not split into " + std::to_string(count) + " heads");
  const Index headDim = y.cols() / count;
  Stack heads(count, y.rows(), headDim);
  for (Index h = 0; h < count; ++h) heads[h] = y.middleCols(h * headDim, headDim);
  return heads;
}

Matrix mergeHeads(const Stack& heads) {
  Matrix y(heads.rows(), heads.count() * heads.cols());
  for (Index h = 0; h < heads.count(); ++h) y.middleCols(h * heads.cols(), heads.cols()) = heads[h];
  return y;
}

void attendHeads(const AttentionConfig& config, const MaskInput& mask, std::span<const MatrixView> keys,
                 std::span<const MatrixView> values, AttentionResult& result, std::stop_token stop) {
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

void attendHeads(const AttentionConfig& config, const MaskInput& mask, AttentionResult& result,
                 std::stop_token stop) {
  attendHeads(config, mask, slices(result.k), slices(result.v), result, stop);
}

AttentionResult attend(const AttentionConfig& config, const Projections& projections,
                       const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                       const MaskInput& mask, std::stop_token stop) {
  const Status status = validate(config);
  require(status.ok(), status ? "" : status.error().message);
  requireProjectionShapes(config, projections);
  requireMaskShape(config, mask, x.rows(), context.rows());
  AttentionResult result;
  result.q = splitHeads(projections.q.apply(x, stop), config.heads);
  result.k = splitHeads(projections.k.apply(context, stop), config.kvHeads);
  result.v = splitHeads(projections.v.apply(context, stop), config.kvHeads);
  if (config.ropeTheta) {
    const Matrix queryTable = ropeTable(config.cacheLength, x.rows(), config.headDim, *config.ropeTheta);
    const Matrix keyTable = ropeTable(0, context.rows(), config.headDim, *config.ropeTheta);
    for (Index h = 0; h < config.heads; ++h) applyRope(result.q[h], queryTable);
    for (Index g = 0; g < config.kvHeads; ++g) applyRope(result.k[g], keyTable);
  }
  result.output = Matrix::Zero(x.rows(), config.modelDim);
  attendHeads(config, mask, result, stop);
  if (!stop.stop_requested()) result.output = projections.o.apply(mergeHeads(result.headOutput), stop);
  return result;
}

std::uint64_t attentionResultBytes(const AttentionConfig& config, Index queries, Index keys) {
  const Index bytes = sizeof(float);
  return saturatingSum({
      saturatingProduct({2, config.heads, queries, config.headDim, bytes}),  // q and headOutput
      saturatingProduct({2, config.kvHeads, keys, config.headDim, bytes}),   // k and v
      saturatingProduct({2, config.heads, queries, keys, bytes}),            // scores and weights
      saturatingProduct({config.heads, queries, bytes}),                     // lse
      saturatingProduct({queries, config.modelDim, bytes}),                  // output
  });
}

}  // namespace headscope::attention
