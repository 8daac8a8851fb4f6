#include "attention/heads/rounded_layer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/cache/quantise.h"
#include "attention/core/attention_parts.h"
#include "attention/core/parallel.h"
#include "attention/core/products.h"
#include "attention/core/score_terms.h"
#include "attention/core/softmax.h"

namespace headscope::attention {

namespace {

/// Rounds numbers to one storage format.
class Rounding {
 public:
  explicit Rounding(NumberFormat format) : format_(format) {
    require(format == NumberFormat::fp32 || format == NumberFormat::fp16 || format == NumberFormat::bf16,
            "a layer is computed in fp32, fp16 or bf16");
  }
  Matrix operator()(Matrix values) const {
    return format_ == NumberFormat::fp32 ? values : quantised(values, format_);
  }
  Stack operator()(Stack values) const {
    return format_ == NumberFormat::fp32 ? values : quantised(values, format_);
  }
  Linear operator()(const Linear& map) const {
    Linear rounded{(*this)(map.weight), map.bias};
    if (map.bias.size()) rounded.bias = (*this)(Matrix(map.bias.transpose())).transpose();
    return rounded;
  }

 private:
  NumberFormat format_;
};

/// Returns one head's scores before the mask.
Matrix unmaskedScores(const RoundedInput& input, const AttentionResult& result, Index head,
                      const Rounding& rounded) {
  const AttentionConfig& config = input.config;
  const Index n = result.q.rows(), m = result.k.rows();
  const HeadTerms terms = headTerms(config, input.mask, head, n, m);
  Matrix scores = rounded(timesTransposed(result.q[head], result.k[config.kvHeadOf(head)]));
  scores = rounded(Matrix(scores * terms.factor));
  if (!terms.bias.empty()) {
    for (Index row = 0; row < n; ++row)
      scores.row(row) += Eigen::Map<const Eigen::RowVectorXf>(terms.biasOf(row), m);
    scores = rounded(std::move(scores));
  }
  if (terms.cap > 0) {
    for (Index i = 0; i < scores.size(); ++i)
      scores.data()[i] = terms.cap * std::tanh(scores.data()[i] / terms.cap);
    scores = rounded(std::move(scores));
  }
  if (terms.added) {
    scores += MatrixView(terms.added, n, m);
    scores = rounded(std::move(scores));
  }
  return scores;
}

/// Sets scores to −inf where the row doesn't see the key.
void hide(const MaskInput& mask, Index head, Matrix& scores) {
  KeyRuns runs;
  for (Index row = 0; row < scores.rows(); ++row) {
    if (mask.formula) {
      mask.formula->visibleRuns(mask.formula->variantOf(head), row, runs);
      Index key = 0;
      for (const KeyRun& run : runs) {
        std::fill(scores.row(row).data() + key, scores.row(row).data() + run.begin, kMinusInfinity);
        key = run.end;
      }
      std::fill(scores.row(row).data() + key, scores.row(row).data() + scores.cols(), kMinusInfinity);
    }
    if (mask.additive.empty()) continue;
    const MatrixView added = mask.additive[sliceOf(mask.additive, head)];
    for (Index key = 0; key < scores.cols(); ++key)
      if (added(row, key) == kMinusInfinity) scores(row, key) = kMinusInfinity;
  }
}

}  // namespace

RoundedLayer roundedLayer(const RoundedInput& input, NumberFormat format, std::stop_token stop) {
  const Rounding rounded(format);
  const AttentionConfig& config = input.config;
  AttentionResult kept;
  if (input.projections) {
    const Matrix x = rounded(input.x), context = input.context.size() ? rounded(input.context) : x;
    const auto heads = [&](const Linear& map, const Matrix& from, Index count) {
      return rounded(splitHeads(rounded(map).apply(from, stop), count));
    };
    kept.q = heads(input.projections->q, x, config.heads);
    kept.k = heads(input.projections->k, context, config.kvHeads);
    kept.v = heads(input.projections->v, context, config.kvHeads);
    if (config.ropeTheta) {
      rotate(config, kept);
      kept.q = rounded(std::move(kept.q));
      kept.k = rounded(std::move(kept.k));
    }
  } else {
    kept.q = rounded(input.q);
    kept.k = rounded(input.k);
    kept.v = rounded(input.v);
  }
  RoundedLayer layer;
  layer.weights = Stack(config.heads, kept.q.rows(), kept.k.rows());
  layer.headOutput = Stack(config.heads, kept.q.rows(), config.headDim);
  forEach(config.heads, stop, [&](Index head) {
    Matrix scores = unmaskedScores(input, kept, head, rounded);
    hide(input.mask, head, scores);
    Matrix weights(scores.rows(), scores.cols());
    for (Index row = 0; row < scores.rows(); ++row)
      softmaxRow(scores.row(row).data(), scores.cols(), weights.row(row).data(), config.sinkOf(head));
    weights = rounded(std::move(weights));
    layer.headOutput[head] = rounded(product(weights, kept.v[config.kvHeadOf(head)]));
    layer.weights[head] = weights;
  });
  if (input.projections && !stop.stop_requested())
    layer.output = rounded(rounded(input.projections->o).apply(mergeHeads(layer.headOutput), stop));
  return layer;
}

}  // namespace headscope::attention
