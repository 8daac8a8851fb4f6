#include "attention/core/attention.h"

#include <fmt/core.h>

#include <string>

#include "attention/core/attention_parts.h"
#include "attention/core/fast_attention.h"
#include "attention/core/linear_maps.h"
#include "attention/core/parallel.h"
#include "attention/core/saturating.h"
#include "attention/core/softmax.h"

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

}  // namespace headscope::attention
