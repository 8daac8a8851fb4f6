#include "app/compute/heads/precision_study.h"

#include <algorithm>
#include <cmath>

#include "attention/core/max_pool.h"
#include "attention/heads/head_shares.h"

namespace headscope::app {

using attention::Matrix;
using attention::RoundedLayer;
using attention::Stack;

namespace {

constexpr Index kPrecisionSide = 256;  // cells per side

/// Returns |a − b| of one head, max-pooled over factor × factor cells; −inf if all of them are masked.
Matrix pooledDifference(const attention::MatrixView& a, const attention::MatrixView& b,
                        const attention::MatrixView& scores, int factor) {
  const auto parts = [&](Index size) { return attention::pooledSize(size, factor); };
  Matrix pooled = Matrix::Constant(parts(a.rows()), parts(a.cols()), attention::kMinusInfinity);
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j) {
      if (scores(i, j) == attention::kMinusInfinity) continue;
      const float difference = std::abs(a(i, j) - b(i, j));
      float& cell = pooled(i / factor, j / factor);
      if (!(difference <= cell)) cell = difference;  // NaN stays
    }
  return pooled;
}

FormatDifference differenceOf(attention::NumberFormat format, const RoundedLayer& exact,
                              const RoundedLayer& rounded, const Stack& scores, int factor) {
  FormatDifference difference;
  difference.format = format;
  const Index heads = exact.weights.count();
  for (Index head = 0; head < heads; ++head) {
    const Matrix pooled = pooledDifference(exact.weights[head], rounded.weights[head], scores[head], factor);
    if (difference.weights.empty()) difference.weights = Stack(heads, pooled.rows(), pooled.cols());
    difference.weights[head] = pooled;
    HeadDifference one;
    one.weights = std::max(pooled.maxCoeff<Eigen::PropagateNaN>(), 0.0f);
    const float whole = exact.headOutput[head].norm();
    one.output = whole > 0 ? (rounded.headOutput[head] - exact.headOutput[head]).norm() / whole : 0;
    difference.finite = difference.finite && std::isfinite(one.weights) && std::isfinite(one.output);
    if (one.weights > difference.largest) difference.largest = one.weights;
    difference.heads.push_back(one);
  }
  if (exact.output.size()) difference.output = attention::rowChanges(exact.output, rounded.output);
  return difference;
}

}  // namespace

LayerPrecisionStudy studyPrecision(const std::shared_ptr<const LayerParts>& layer, std::stop_token stop) {
  LayerPrecisionStudy study;
  study.question = layer;
  const SequenceSnapshot& sequence = layer->sequence();
  study.fromInputs = layer->projections != nullptr;
  const attention::AttentionResult& result = sequence.attention;
  attention::RoundedInput input{layer->config(), sequence.mask, layer->projections.get(), {}, {}, {}, {}, {}};
  if (study.fromInputs) {
    input.x = layer->x;
    input.context = layer->context;
  } else {
    input.q = result.q;
    input.k = result.k;
    input.v = result.v;
  }
  const RoundedLayer exact = attention::roundedLayer(input, attention::NumberFormat::fp32, stop);
  const Index longest = std::max(result.weights.rows(), result.weights.cols());
  while (longest / study.factor > kPrecisionSide) study.factor *= 2;
  for (std::size_t i = 0; i < study.formats.size() && !stop.stop_requested(); ++i) {
    const attention::NumberFormat format = LayerPrecisionStudy::kFormats[i];
    study.formats[i] = differenceOf(format, exact, attention::roundedLayer(input, format, stop),
                                    result.scores, study.factor);
  }
  return study;
}

}  // namespace headscope::app
