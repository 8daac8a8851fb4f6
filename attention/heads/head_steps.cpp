#include "attention/heads/head_steps.h"

#include <cmath>

#include "attention/cache/kv_cache.h"
#include "attention/core/activations.h"
#include "attention/core/decompositions.h"
#include "attention/core/extremes.h"
#include "attention/core/parallel.h"

namespace headscope::attention {

HeadSteps headSteps(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                    Index head) {
  if (head < 0 || head >= result.q.count())
    throw std::invalid_argument("head " + std::to_string(head) + " of " + std::to_string(result.q.count()));
  HeadSteps steps;
  const MatrixView q = result.q[head], k = result.k[config.kvHeadOf(head)];
  steps.dots = timesTransposed(q, k);
  const HeadTerms terms = headTerms(config, mask, head, q.rows(), k.rows());
  steps.factor = terms.factor;
  if (terms.bias.empty() && terms.cap == 0 && !terms.added) return steps;
  steps.biased = steps.dots * terms.factor;
  const auto add = [&](Index row, const float* values) {
    if (values) steps.biased.row(row) += Eigen::Map<const Eigen::RowVectorXf>(values, terms.keys);
  };
  for (Index row = 0; row < terms.queries; ++row) {
    add(row, terms.biasOf(row));
    if (terms.cap != 0)
      steps.biased.row(row) = terms.cap * (steps.biased.row(row).array() / terms.cap).tanh();
    add(row, terms.addedOf(row));
  }
  return steps;
}

Matrix poolByMagnitude(const Eigen::Ref<const Matrix>& values, Index rows, Index cols) {
  const Index n = values.rows(), m = values.cols();
  if (n <= rows && m <= cols) return values;
  rows = std::clamp<Index>(rows, 1, std::max<Index>(n, 1));
  cols = std::clamp<Index>(cols, 1, std::max<Index>(m, 1));
  Matrix pooled(n ? rows : 0, m ? cols : 0);
  for (Index row = 0; row < pooled.rows(); ++row)
    for (Index col = 0; col < pooled.cols(); ++col) {
      const Index top = row * n / rows, left = col * m / cols;
      float farthest = values(top, left);
      for (Index i = top; i < (row + 1) * n / rows; ++i)
        for (Index j = left; j < (col + 1) * m / cols; ++j) {
          const float value = values(i, j);
          if (std::isfinite(value) && (!std::isfinite(farthest) || std::abs(value) > std::abs(farthest)))
            farthest = value;
        }
      pooled(row, col) = farthest;
    }
  return pooled;
}

namespace {

void requireAlike(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols())
    throw std::invalid_argument("a product of maps " + shapeText(a.rows(), a.cols()) + " and " +
                                shapeText(b.rows(), b.cols()));
}

}  // namespace

Spectrum productSpectrum(const Matrix& a, const Matrix& b) {
  requireAlike(a, b);
  Spectrum spectrum;
  const Eigen::MatrixXd core =
      productInDouble(triangularFactor(a.cast<double>()), triangularFactor(b.cast<double>()).transpose());
  const Eigen::VectorXd singular = singularValues(core);
  spectrum.singular.assign(singular.begin(), singular.end());
  spectrum.rank =
      numericalRank(singular, std::max(a.rows(), a.cols()), std::numeric_limits<double>::epsilon());
  return spectrum;
}

double copyingScore(const Matrix& v, const Matrix& o) {
  requireAlike(v, o);
  const Eigen::MatrixXd small = productInDouble(o.cast<double>().transpose(), v.cast<double>());
  if (small.size() == 0 || !small.allFinite()) return 0;
  const Eigen::VectorXcd values = eigenvalues(small);
  const double sum = values.real().sum(), amount = values.cwiseAbs().sum();
  return amount > 0 ? sum / amount : 0;
}

Matrix productPicture(const Matrix& a, const Matrix& b, Index cells, std::stop_token stop) {
  requireAlike(a, b);
  const Index n = a.rows(), rows = std::min(n, std::max<Index>(cells, 1));
  Matrix picture = Matrix::Zero(rows, rows);
  for (Index row = 0; row < rows && !stop.stop_requested(); ++row) {
    const Index from = row * n / rows, to = (row + 1) * n / rows;
    const Matrix part = timesTransposed(a.middleRows(from, to - from), b);
    picture.row(row) = poolByMagnitude(part, 1, rows);
  }
  return picture;
}

WorkedSum workedSum(std::span<const float> a, std::span<const float> b, std::size_t most) {
  if (a.size() != b.size())
    throw std::invalid_argument("a sum of products of " + std::to_string(a.size()) + " and " +
                                std::to_string(b.size()) + " numbers");
  WorkedSum sum;
  sum.terms.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double product = static_cast<double>(a[i]) * static_cast<double>(b[i]);
    sum.terms.push_back({static_cast<Index>(i), a[i], b[i], product, 0});
    sum.total += product;
  }
  if (sum.terms.size() > most) {
    const auto middle = sum.terms.begin() + static_cast<std::ptrdiff_t>(most);
    std::partial_sort(sum.terms.begin(), middle, sum.terms.end(), [](const SumTerm& x, const SumTerm& y) {
      const double left = std::abs(x.product), right = std::abs(y.product);
      return descends(left, right) || (!descends(right, left) && x.at < y.at);
    });
    sum.omitted = static_cast<Index>(sum.terms.size() - most);
    for (auto term = middle; term != sum.terms.end(); ++term) sum.rest += term->product;
    sum.nothingOmitted =
        std::all_of(middle, sum.terms.end(), [](const SumTerm& term) { return term.product == 0; });
    sum.terms.resize(most);
    // Products of 0, frequent with planted weights, are not worth listing.
    sum.omitted +=
        static_cast<Index>(std::erase_if(sum.terms, [](const SumTerm& term) { return term.product == 0; }));
    std::sort(sum.terms.begin(), sum.terms.end(),
              [](const SumTerm& x, const SumTerm& y) { return x.at < y.at; });
  }
  double running = 0;
  for (SumTerm& term : sum.terms) term.running = running += term.product;
  return sum;
}

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
