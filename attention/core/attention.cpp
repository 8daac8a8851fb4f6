#include "attention/core/attention.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "attention/core/activations.h"
#include "attention/core/parallel.h"
#include "attention/core/positions.h"
#include "attention/core/projections.h"
#include "attention/core/random.h"
#include "attention/core/tensor.h"

namespace headscope::attention {
namespace {

LinearMap mapOf(const Linear& linear, const kernels::Columns<float>& y) {
  return {linear.weight.data(), linear.bias.size() ? linear.bias.data() : nullptr,
          static_cast<std::size_t>(linear.weight.rows()), y};
}

/// Fills q from `x`, k and v from `context`.
void applyProjections(const AttentionConfig& config, const Projections& projections,
                      const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                      AttentionResult& result, const std::stop_token& stop) {
  const Index n = x.rows(), m = context.rows();
  result.q = Stack::uninitialized(config.heads, n, config.headDim);
  result.k = Stack::uninitialized(config.kvHeads, m, config.headDim);
  result.v = Stack::uninitialized(config.kvHeads, m, config.headDim);
  const LinearMap maps[] = {mapOf(projections.q, intoHeads(result.q)),
                            mapOf(projections.k, intoHeads(result.k)),
                            mapOf(projections.v, intoHeads(result.v))};
  const std::span<const LinearMap> all(maps);
  if (x.data() == context.data() && n == m) {
    applyMaps(x, all, stop);
    return;
  }
  applyMaps(x, all.first(1), stop);
  applyMaps(context, all.last(2), stop);
}

}  // namespace

Stack undroppedWeights(const AttentionConfig& config, const AttentionResult& result, std::stop_token stop) {
  const Stack& scores = result.scores;
  Stack weights = Stack::uninitialized(scores.count(), scores.rows(), scores.cols());
  forEach(scores.count(), stop, [&](Index head) {
    for (Index row = 0; row < scores.rows(); ++row)
      softmaxRow(scores[head].row(row).data(), scores.cols(), weights[head].row(row).data(),
                 config.sinkOf(head));
  });
  return weights;
}

Stack leftColumns(const Stack& stack, Index cols) {
  Stack left = Stack::uninitialized(stack.count(), stack.rows(), cols);
  for (Index h = 0; h < stack.count(); ++h) left[h] = stack[h].leftCols(cols);
  return left;
}

Stack splitHeads(const Eigen::Ref<const Matrix>& y, Index count) {
  require(count >= 1 && y.cols() % count == 0,
          fmt::format("{} does not split into {} heads", shapeText(y.rows(), y.cols()), count));
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
                 std::span<const MatrixView> values, AttentionResult& result, std::stop_token stop,
                 Keep keep) {
  requireHeadShapes(config, keys, values, result.q);
  requireMaskShape(config, mask, result.q.rows(), keys[0].rows());
  const Index valueDim = values[0].cols();
  if (valueDim == config.headDim)
    return attendHeadsFast(config, mask, keys, values, keep, result, std::move(stop));
  // The kernels need values as wide as the keys.
  std::vector<Matrix> wide;
  std::vector<MatrixView> views;
  for (const MatrixView& view : values) {
    Matrix& copy = wide.emplace_back(Matrix::Zero(view.rows(), config.headDim));
    copy.leftCols(valueDim) = view;
  }
  for (const Matrix& copy : wide) views.emplace_back(copy.data(), copy.rows(), copy.cols());
  attendHeadsFast(config, mask, keys, views, keep, result, std::move(stop));
  result.headOutput = leftColumns(result.headOutput, valueDim);
}

void attendHeads(const AttentionConfig& config, const MaskInput& mask, AttentionResult& result,
                 std::stop_token stop, Keep keep) {
  attendHeads(config, mask, slices(result.k), slices(result.v), result, std::move(stop), keep);
}

AttentionResult project(const AttentionConfig& config, const Projections& projections,
                        const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                        std::stop_token stop) {
  requireAttendShapes(config, projections, x, context, {});
  AttentionResult result;
  applyProjections(config, projections, x, context, result, stop);
  rotate(config, result);
  return result;
}

void attendProjected(const AttentionConfig& config, const Projections& projections, const MaskInput& mask,
                     AttentionResult& result, std::stop_token stop, Keep keep) {
  result.output.resize(result.q.rows(), config.modelDim);
  attendHeads(config, mask, result, stop, keep);
  const LinearMap output = mapOf(projections.o, intoRows(result.output));
  if (!stop.stop_requested()) applyMaps(result.headOutput, {&output, 1}, stop);
}

AttentionResult attend(const AttentionConfig& config, const Projections& projections,
                       const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                       const MaskInput& mask, std::stop_token stop, Keep keep) {
  requireAttendShapes(config, projections, x, context, mask);
  AttentionResult result = project(config, projections, x, context, stop);
  attendProjected(config, projections, mask, result, std::move(stop), keep);
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

namespace {

/// Like Eigen's allFinite(), but on integers, which compilers vectorise: ten times as fast. This runs on
/// one thread while all others wait.
bool allFiniteFast(const MatrixView& values) {
  constexpr std::uint32_t kMagnitude = 0x7fffffff, kLowestExponent = 0x00800000;
  std::uint32_t found = 0;
  for (Index i = 0; i < values.rows(); ++i) {
    const float* const row = values.data() + i * values.outerStride();
    // Adding 1 to an exponent of all ones carries into the sign bit.
    for (Index j = 0; j < values.cols(); ++j)
      found |= (std::bit_cast<std::uint32_t>(row[j]) & kMagnitude) + kLowestExponent;
  }
  return found <= kMagnitude;
}

}  // namespace

ValueRows::ValueRows(const MatrixView& values) : values_(values) {
  if (allFiniteFast(values)) return;
  copy_ = values;
  for (Index j = 0; j < values.rows(); ++j)
    for (Index t = 0; t < values.cols(); ++t)
      if (!std::isfinite(values(j, t))) {
        exceptions_.push_back({j, t, values(j, t)});
        copy_(j, t) = 0;
      }
}

void ValueRows::addExceptions(const MatrixView& weights, const MatrixView& scores,
                              MutableMatrixView output) const {
  for (Index row = 0; row < output.rows(); ++row)
    for (const auto& [key, column, value] : exceptions_)
      if (scores(row, key) != -std::numeric_limits<float>::infinity())
        output(row, column) += weights(row, key) * value;
}

void requireHeadShapes(const AttentionConfig& config, std::span<const MatrixView> keys,
                       std::span<const MatrixView> values, const Stack& q) {
  requireValid(config);
  require(q.count() == config.heads && q.cols() == config.headDim,
          fmt::format("q is [{}, n, {}], expected [{}, n, {}]", q.count(), q.cols(), config.heads,
                      config.headDim));
  const auto kvHeads = static_cast<std::size_t>(config.kvHeads);
  require(keys.size() == kvHeads && values.size() == kvHeads,
          fmt::format("{} heads of keys and {} of values, expected kvHeads = {}", keys.size(), values.size(),
                      kvHeads));
  // Values may be narrower than keys (multi-head latent attention).
  const Index valueDim = std::min(values[0].cols(), config.headDim);
  for (std::size_t g = 0; g < kvHeads; ++g)
    for (const auto& [view, cols] : {std::pair(&keys[g], config.headDim), std::pair(&values[g], valueDim)})
      require(view->rows() == keys[0].rows() && view->cols() == cols,
              fmt::format("keys or values of kv head {} are {}, expected {}", g,
                          shapeText(view->rows(), view->cols()), shapeText(keys[0].rows(), cols)));
}

void requireAttendShapes(const AttentionConfig& config, const Projections& projections,
                         const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                         const MaskInput& mask) {
  requireValid(config);
  requireProjectionShapes(config, projections);
  requireInput(projections.q, x);
  requireInput(projections.k, context);
  requireMaskShape(config, mask, x.rows(), context.rows());
}

void dropWeights(const Dropout& dropout, Index head, Index firstPosition, MutableMatrixView weights) {
  const float rest = 1 / (1 - dropout.probability);
  // Sequence streams count down from the top, so that they never equal a head's stream.
  const std::uint64_t seed = dropout.sequence == 0 ? dropout.seed : mixSeed(dropout.seed, ~dropout.sequence);
  const std::uint64_t headSeed = mixSeed(seed, static_cast<std::uint64_t>(head));
  for (Index row = 0; row < weights.rows(); ++row) {
    Random random(mixSeed(headSeed, static_cast<std::uint64_t>(firstPosition + row)));
    for (Index j = 0; j < weights.cols(); ++j)
      weights(row, j) = random.uniform() < dropout.probability ? 0.0f : weights(row, j) * rest;
  }
}

void rotate(const AttentionConfig& config, AttentionResult& result) {
  if (!config.ropeTheta) return;
  const Index headDim = config.headDim;
  const Matrix queryTable = ropeTable(config.cacheLength, result.q.rows(), headDim, *config.ropeTheta);
  const Matrix keyTable = ropeTable(0, result.k.rows(), headDim, *config.ropeTheta);
  kernels::sharedPool().run(static_cast<std::size_t>(config.heads + config.kvHeads), {}, [&](std::size_t i) {
    const auto h = static_cast<Index>(i);
    if (h < config.heads)
      applyRope(result.q[h], queryTable);
    else
      applyRope(result.k[h - config.heads], keyTable);
  });
}

std::vector<MatrixView> slices(const Stack& stack) {
  std::vector<MatrixView> views;
  for (Index i = 0; i < stack.count(); ++i) views.push_back(stack[i]);
  return views;
}

void switchHeads(Stack& headOutput, const HeadSwitch& how, Index rows) {
  for (std::size_t head = 0; head < how.scale.size(); ++head)
    headOutput[static_cast<Index>(head)] *= how.scale[head];
  if (rows == 0) return;
  for (const Index head : how.mean) {
    const Eigen::RowVectorXf mean = headOutput[head].topRows(rows).colwise().mean();
    headOutput[head].rowwise() = mean;
  }
}

namespace {

void requireIndex(const char* name, Index index, Index count) {
  require(index >= 0 && index < count, fmt::format("{} is {}, expected below {}", name, index, count));
}

}  // namespace

ScoreReceipt explainScore(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                          Index head, Index query, Index key) {
  requireIndex("head", head, result.scores.count());
  requireIndex("query", query, result.scores.rows());
  requireIndex("key", key, result.scores.cols());
  require(result.q.count() == config.heads && result.scores.count() == config.heads,
          fmt::format("the result has {} heads, expected {}", result.q.count(), config.heads));
  requireIndex("kv head", config.kvHeadOf(head), result.k.count());
  requireIndex("key row", key, result.k.rows());
  requireMaskShape(config, mask, result.scores.rows(), result.scores.cols());

  ScoreReceipt receipt;
  receipt.q = result.q[head].row(query).transpose();
  receipt.k = result.k[config.kvHeadOf(head)].row(key).transpose();
  receipt.product = receipt.q.cwiseProduct(receipt.k);
  receipt.dot = receipt.product.sum();
  receipt.steps = scoreSteps(config, mask, head, query, key, receipt.dot);
  receipt.visible = visible(mask, head, query, key);

  // Repeats the stored row's softmax. Without dropout, exponential / rowSum is the stored weight up to
  // rounding.
  const MatrixView scores = result.scores[head];
  std::vector<float> weights(static_cast<std::size_t>(scores.cols()));
  receipt.sink = config.sinkOf(head);
  const SoftmaxRow row = softmaxRow(scores.row(query).data(), scores.cols(), weights.data(), receipt.sink);
  receipt.score = scores(query, key);
  receipt.rowMax = row.max;
  receipt.rowSum = row.sum;
  if (receipt.score > -std::numeric_limits<float>::infinity() || std::isnan(receipt.score))
    receipt.exponential = expNonPositive(receipt.score - row.max);
  receipt.weight = result.weights.at(head, query, key);
  receipt.output = result.headOutput[head].row(query).transpose();
  receipt.weighted = Vector::Zero(receipt.output.size());
  // A masked or dropped key adds nothing, even if its value is NaN.
  if (receipt.weight != 0)
    receipt.weighted = receipt.weight * result.v[config.kvHeadOf(head)].row(key).transpose();
  receipt.rest = receipt.output - receipt.weighted;
  return receipt;
}

float sinkShare(const AttentionConfig& config, const AttentionResult& result, Index head, Index query) {
  const auto sink = config.sinkOf(head);
  const float lse = result.lse(head, query);
  return sink && lse != kMinusInfinity ? std::exp(*sink - lse) : 0;
}

float rowEntropy(const Eigen::Ref<const Eigen::RowVectorXf>& weights) {
  double entropy = 0;
  for (const float weight : weights)
    // w·ln w tends to 0 with w; NaN must propagate.
    if (weight != 0) entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
  return static_cast<float>(entropy);
}

}  // namespace headscope::attention
