#include "attention/heads/spectrum.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "attention/core/decompositions.h"
#include "attention/core/products.h"
#include "attention/heads/head_steps.h"

namespace headscope::attention {

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

}  // namespace headscope::attention
