#include "attention/heads/head_steps.h"

#include <cmath>

#include "attention/core/decompositions.h"
#include "attention/core/extremes.h"

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

}  // namespace headscope::attention
