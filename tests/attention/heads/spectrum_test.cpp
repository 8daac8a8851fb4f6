// Properties of a head's combined maps: singular values, rank, copying.

#include <gtest/gtest.h>

#include "attention/core/decompositions.h"
#include "attention/heads/head_steps.h"

namespace headscope::attention::test {
namespace {

/// I − 2·v·vᵀ/|v|² of a random v: orthogonal.
Eigen::MatrixXd reflection(Index size) {
  const Eigen::VectorXd v = Eigen::VectorXd::Random(size).normalized();
  return Eigen::MatrixXd::Identity(size, size) - 2 * v * v.transpose();
}

TEST(SingularValues, MatchTheConstructedMatrix) {
  const Eigen::Vector<double, 5> built(1e3, 7, 7, 1e-6, 0);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{5, 5}, {40, 5}, {5, 40}, {9, 7}}) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(rows, cols);
    matrix.diagonal().head(5) = built;
    const Eigen::VectorXd found = singularValues(reflection(rows) * matrix * reflection(cols));
    ASSERT_EQ(found.size(), std::min(rows, cols));
    for (Index i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], i < 5 ? built[i] : 0, 1e-11) << rows << "×" << cols;
  }
  EXPECT_EQ(singularValues(Eigen::MatrixXd(0, 3)).size(), 0);
}

TEST(Spectrum, MatchesTheFullProduct) {
  const Matrix a = Matrix::Random(24, 6), b = Matrix::Random(24, 6);
  const Spectrum spectrum = productSpectrum(a, b);
  const Eigen::MatrixXd whole = (a * b.transpose()).cast<double>();
  const Eigen::VectorXd expected = singularValues(whole);
  ASSERT_EQ(spectrum.singular.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(spectrum.singular[i], expected[static_cast<Index>(i)], 1e-4);
  EXPECT_EQ(spectrum.rank, 6);
}

TEST(Spectrum, RankCountsIndependentDirections) {
  Matrix a = Matrix::Random(24, 6);
  const Matrix b = Matrix::Random(24, 6);
  a.col(4) = 2 * a.col(1);
  a.col(5).setZero();
  EXPECT_EQ(productSpectrum(a, b).rank, 4);
  EXPECT_EQ(productSpectrum(Matrix::Zero(24, 6), b).rank, 0);
  EXPECT_THROW(productSpectrum(a, Matrix::Zero(24, 5)), std::invalid_argument);
}

/// Even a weak direction in a product of random maps counts. Values near float's epsilon aren't rounding
/// errors, because everything after the maps is computed in double.
TEST(Spectrum, WeakDirectionCountsTowardsRank) {
  Matrix a = Matrix::Identity(24, 6);
  a(5, 5) = 1e-8f;
  EXPECT_EQ(productSpectrum(a, Matrix::Identity(24, 6)).rank, 6);
}

TEST(CopyingScore, IsOneForCopyingAndMinusOneForNegatingHeads) {
  const Matrix v = Matrix::Random(24, 6);
  EXPECT_NEAR(copyingScore(v, v), 1, 1e-6);
  EXPECT_NEAR(copyingScore(v, -v), -1, 1e-6);
  EXPECT_EQ(copyingScore(v, Matrix::Zero(24, 6)), 0);
  Matrix half = v;
  half.rightCols(3) *= -1;
  EXPECT_LT(std::abs(copyingScore(v, half)), 1);
}

TEST(ProductPicture, KeepsValuesFarthestFromZero) {
  const Matrix a = Matrix::Random(24, 6), b = Matrix::Random(24, 6);
  const Matrix whole = a * b.transpose();
  EXPECT_LT((productPicture(a, b, 24) - whole).cwiseAbs().maxCoeff(), 1e-5f);
  const Matrix pooled = productPicture(a, b, 5);
  ASSERT_EQ(pooled.rows(), 5);
  EXPECT_FLOAT_EQ(pooled.cwiseAbs().maxCoeff(), whole.cwiseAbs().maxCoeff());
}

}  // namespace
}  // namespace headscope::attention::test
