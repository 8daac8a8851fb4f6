#include "attention/core/positions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/attention/core/attention_reference.h"

namespace headscope::attention::test {
namespace {

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

TEST(Positions, sinusoidsFollowTheFormula) {
  const Matrix encoding = sinusoidalPositions(3, 4, 7);
  for (Index p = 0; p < 4; ++p)
    for (Index d = 0; d < 7; ++d) {
      const double angle = static_cast<double>(p + 3) / std::pow(10000.0, 2 * std::floor(d / 2.0) / 7);
      const double expected = d % 2 == 1 ? std::cos(angle) : std::sin(angle);
      EXPECT_NEAR(encoding(p, d), expected, kEpsilon) << p << ", " << d;
    }
}

double rotatedDot(const Matrix& q, const Matrix& k, Index i, Index j, double theta) {
  Matrix a = q, b = k;
  applyRope(MutableMatrixView(a.data(), 1, a.cols()), i, theta);
  applyRope(MutableMatrixView(b.data(), 1, b.cols()), j, theta);
  return a.row(0).cast<double>().dot(b.row(0).cast<double>());
}

TEST(Positions, ropeDependsOnTheRelativePositionOnly) {
  for (const Index dim : {2, 8, 64})
    for (const double theta : {10000.0, 500000.0}) {
      const Matrix q = gaussianMatrix(1, dim, 1), k = gaussianMatrix(1, dim, 2);
      // Cosine, sine, products and sums of both rotations are rounded: some eight epsilons of the norms.
      const double tolerance = 8 * kEpsilon * q.norm() * k.norm();
      for (const Index distance : {-7, 0, 1, 12}) {
        const double first = rotatedDot(q, k, 7 + distance, 7, theta);
        for (const Index shift : {1, 50, 3000})
          EXPECT_NEAR(rotatedDot(q, k, 7 + distance + shift, 7 + shift, theta), first, tolerance)
              << "head size " << dim << ", distance " << distance << ", shift " << shift;
      }
      EXPECT_GT(std::abs(rotatedDot(q, k, 9, 7, theta) - rotatedDot(q, k, 7, 7, theta)), 10 * tolerance);
    }
}

TEST(Positions, ropePairsHalves) {
  // A quarter turn needs position · frequency = π/2; with one pair the frequency is 1, so the angle
  // is the position itself.
  Matrix x{{1, 0}};
  applyRope(MutableMatrixView(x.data(), 1, 2), 2, 10000.0);
  EXPECT_NEAR(x(0, 0), std::cos(2.0), kEpsilon);
  EXPECT_NEAR(x(0, 1), std::sin(2.0), kEpsilon);
  Matrix wide{{0, 1, 0, 0, 0, 0}};
  applyRope(MutableMatrixView(wide.data(), 1, 6), 1, 1000.0);
  EXPECT_NEAR(wide(0, 1), std::cos(0.1), kEpsilon);
  EXPECT_NEAR(wide(0, 4), std::sin(0.1), kEpsilon);
  EXPECT_EQ(wide(0, 0), 0);
}

TEST(Positions, ropeKeepsPositionZeroAndNeedsPairs) {
  Matrix x = gaussianMatrix(2, 6, 1);
  const Matrix before = x;
  applyRope(MutableMatrixView(x.data(), 2, 6), 0, 10000.0);
  EXPECT_EQ(x.row(0), before.row(0));
  EXPECT_NE(x.row(1), before.row(1));
  Matrix odd = gaussianMatrix(2, 5, 1);
  EXPECT_THROW(applyRope(MutableMatrixView(odd.data(), 2, 5), 0, 10000.0), std::invalid_argument);
}

TEST(Positions, alibiSlopesAsPublished) {
  // Press et al. 2022, section 3: 1/2 … 1/256 for 8 heads; their code's interleave for 6 and 12.
  const auto expectSlopes = [](const std::vector<double>& exponents) {
    const std::vector<float> slopes = alibiSlopes(static_cast<Index>(exponents.size()));
    ASSERT_EQ(slopes.size(), exponents.size());
    for (std::size_t h = 0; h < slopes.size(); ++h) {
      const double expected = std::exp2(-exponents[h]);
      EXPECT_NEAR(slopes[h], expected, kEpsilon * expected) << exponents.size() << " heads, head " << h;
    }
  };
  expectSlopes({8});
  expectSlopes({1, 2, 3, 4, 5, 6, 7, 8});
  expectSlopes({2, 4, 6, 8, 1, 3});
  expectSlopes({1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5});
  expectSlopes({0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8});
}

}  // namespace
}  // namespace headscope::attention::test
