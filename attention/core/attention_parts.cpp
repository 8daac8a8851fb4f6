#include "attention/core/attention_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "attention/core/positions.h"
#include "attention/core/random.h"
#include "attention/kernels/pool.h"

namespace headscope::attention {

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
  const Status status = validate(config);
  require(status.ok(), status ? "" : status.error().message);
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
  const Status status = validate(config);
  require(status.ok(), status ? "" : status.error().message);
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

}  // namespace headscope::attention
