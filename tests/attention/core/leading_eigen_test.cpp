#include <gtest/gtest.h>

#include "attention/cache/kv_cache.h"
#include "attention/core/decompositions.h"
#include "attention/core/random.h"
#include "tests/attention/core/attention_reference.h"

namespace headscope::attention::test {
namespace {

Matrix gramOf(const Matrix& a) {
  return (a.cast<double>() * a.cast<double>().transpose()).cast<float>();
}

/// Rows whose lengths decrease as `factor`^i.
Matrix fallingRows(Index rows, Index cols, float factor, std::uint64_t seed) {
  Matrix a = gaussianMatrix(rows, cols, seed);
  float length = 1;
  for (Index i = 0; i < rows; ++i) a.row(i) *= std::exchange(length, length * factor);
  return a;
}

/// The part of a matrix's trace that the vectors leave out, relative to the smallest possible part.
double leftOut(const Matrix& gram, const LeadingEigen& found) {
  const Eigen::VectorXd exact = symmetricEigen(gram.cast<double>()).values;
  const Eigen::MatrixXd rows = found.rows.cast<double>();
  const double held = (rows * gram.cast<double>() * rows.transpose()).trace();
  return (exact.sum() - held) / exact.head(exact.size() - rows.rows()).sum();
}

TEST(LeadingEigen, CapturesAsMuchTraceAsExactVectors) {
  // Pure noise, whose eigenvalues are close together, is the hardest case.
  for (const auto& [rows, cols] : {std::pair<Index, Index>{300, 350}, {300, 900}})
    for (const Index count : {4, 40, 100}) {
      const Matrix gram = gramOf(gaussianMatrix(rows, cols, 1));
      const auto found = leadingEigen(gram, count);
      ASSERT_TRUE(found);
      EXPECT_LT(leftOut(gram, *found), 1 + 1e-3) << rows << " × " << cols << ", " << count;
      EXPECT_LE(
          (timesTransposed(found->rows, found->rows) - Matrix::Identity(count, count)).cwiseAbs().maxCoeff(),
          1e-4f);
    }
}

TEST(LeadingEigen, MatchesExactVectorsForSeparatedEigenvalues) {
  const Matrix gram = gramOf(fallingRows(200, 260, 0.9f, 2));
  const auto found = leadingEigen(gram, 6);
  ASSERT_TRUE(found);
  const SymmetricEigen exact = symmetricEigen(gram.cast<double>());
  for (Index i = 0; i < 6; ++i) {
    EXPECT_NEAR(found->values(i) / exact.values(199 - i), 1, 1e-4) << i;
    EXPECT_NEAR(std::abs(exact.vectors.col(199 - i).dot(found->rows.row(i).transpose().cast<double>())), 1,
                1e-3)
        << i;
  }
}

TEST(LeadingEigen, HandlesWideSpectraAndLowRank) {
  const Matrix steep = gramOf(fallingRows(150, 200, 0.7f, 3));  // down to 1e-46 of the first
  const auto few = leadingEigen(steep, 20);
  ASSERT_TRUE(few && few->rows.allFinite());
  EXPECT_LE(few->values(0) - symmetricEigen(steep.cast<double>()).values(149), 1e-4 * few->values(0));
  const Matrix thin = gaussianMatrix(120, 5, 4);
  const auto five = leadingEigen(gramOf(thin), 12);
  ASSERT_TRUE(five && five->rows.allFinite());
  const Matrix back = thin.transpose() * five->rows.transpose() * five->rows;
  EXPECT_LE((back - thin.transpose()).cwiseAbs().maxCoeff(), 1e-3f);
  const auto none = leadingEigen(Matrix::Zero(30, 30), 3);
  ASSERT_TRUE(none && none->rows.allFinite());
  const auto all = leadingEigen(gramOf(gaussianMatrix(20, 40, 5)), 20);
  ASSERT_TRUE(all);
  EXPECT_LE((timesTransposed(all->rows, all->rows) - Matrix::Identity(20, 20)).cwiseAbs().maxCoeff(), 1e-4f);
}

TEST(LeadingEigen, StopsOnRequestAndRefusesInvalidSizes) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(leadingEigen(gramOf(gaussianMatrix(60, 70, 1)), 5, stop.get_token()));
  EXPECT_THROW((void)leadingEigen(Matrix::Zero(3, 4), 1), std::invalid_argument);
  EXPECT_THROW((void)leadingEigen(Matrix::Zero(3, 3), 4), std::invalid_argument);
  EXPECT_THROW((void)leadingEigen(Matrix::Zero(3, 3), 0), std::invalid_argument);
}

/// ‖W − W·P·Pᵀ‖² of keys and values.
double weightsLost(const Linear& keys, const Linear& values, const Matrix& p) {
  double lost = 0;
  for (const Linear* map : {&keys, &values})
    lost += static_cast<double>((map->weight - map->weight * p * p.transpose()).squaredNorm());
  return lost;
}

TEST(LeadingEigen, WideLatentsLoseNoMoreThanExactOnes) {
  // More outputs than inputs, and fewer. The 40 of 600 are found from a block, all 600 exactly.
  for (const auto& [d, outputs] : {std::pair<Index, Index>{600, 400}, {800, 300}}) {
    const Linear keys{gaussianMatrix(outputs, d, 1), {}}, values{gaussianMatrix(outputs, d, 2), {}};
    const Matrix p = latentDirections(keys, values, 40);
    ASSERT_EQ(p.cols(), 40);
    EXPECT_LE((p.transpose() * p - Matrix::Identity(40, 40)).cwiseAbs().maxCoeff(), 1e-3f);
    Matrix both(2 * outputs, d);
    both << keys.weight, values.weight;
    const Eigen::VectorXd squares = singularValues(both.cast<double>()).cwiseAbs2();
    EXPECT_LT(weightsLost(keys, values, p), squares.tail(squares.size() - 40).sum() * (1 + 1e-3));
  }
  EXPECT_EQ(mostLatent(600, 800), 600);
  EXPECT_EQ(mostLatent(4096, 8192), 1365);
  std::stop_source stop;
  stop.request_stop();
  const Linear wide{gaussianMatrix(600, 600, 1), {}};
  EXPECT_EQ(latentDirections(wide, wide, 40, stop.get_token()).cols(), 0);
}

}  // namespace
}  // namespace headscope::attention::test
