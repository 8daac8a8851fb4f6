#include "attention/core/extremes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace headscope::attention {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kBeyondAll = std::numeric_limits<float>::infinity();

/// The position of the NaN matters, because the result of Eigen's own reduction depends on the vector lane it
/// falls into.
TEST(Extremes, KeepNaNInMaximaAndSkipItInFiniteOnes) {
  for (Index size : {1, 3, 4, 8, 17, 64})
    for (Index at = 0; at < size; ++at) {
      Vector values = Vector::LinSpaced(size, -3, 2);
      values[at] = kNoNumber;
      EXPECT_TRUE(std::isnan(largestMagnitude(values))) << size << ", " << at;
      EXPECT_FALSE(std::isnan(largestFinite(values)));
      EXPECT_EQ(finiteRange(values).first, size == 1 ? 0 : at == 0 ? values[1] : values[0]);
    }
  EXPECT_TRUE(std::isnan(larger(kNoNumber, 1.0f)) && std::isnan(larger(1.0f, kNoNumber)));
  EXPECT_TRUE(std::isnan(stronger(kNoNumber, 1.0f)) && std::isnan(stronger(1.0f, kNoNumber)));
}

TEST(Extremes, FindTheLargestNumbers) {
  Vector values(3);
  values << 1, -5, 2;
  EXPECT_EQ(largestMagnitude(values), 5);
  EXPECT_EQ(largestFinite(values), 5);
  EXPECT_EQ(stronger(2.0f, -5.0f), -5);
  EXPECT_EQ(larger(2.0f, -5.0f), 2);
  values[1] = -kBeyondAll;
  EXPECT_EQ(largestMagnitude(values), kBeyondAll);
  EXPECT_EQ(largestFinite(values), 2);
  EXPECT_EQ(finiteRange(values), std::pair(1.0f, 2.0f));
  EXPECT_EQ(largestMagnitude(Vector()), 0);
  EXPECT_EQ(largestFinite(Vector()), 0);
  EXPECT_EQ(finiteRange(Vector()), std::pair(0.0f, 0.0f));
}

TEST(Extremes, SortNaNLast) {
  std::vector<float> values{kNoNumber, 1, kBeyondAll, kNoNumber, -2, 3, -kBeyondAll, kNoNumber};
  std::sort(values.begin(), values.end(), descends<float>);
  EXPECT_EQ(std::vector(values.begin(), values.begin() + 5),
            (std::vector<float>{kBeyondAll, 3, 1, -2, -kBeyondAll}));
  EXPECT_TRUE(std::all_of(values.begin() + 5, values.end(), [](float value) { return std::isnan(value); }));
}

/// The lowest values of pictures: masked cells, and rows that see no key.
constexpr float kMaskedCell = -std::numeric_limits<float>::infinity(),
                kDeadCell = -std::numeric_limits<float>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

int pooledSize(int size, int factor) {
  return (size + factor - 1) / factor;
}

std::vector<float> pooled(const std::vector<float>& values, int rows, int cols, int factor) {
  std::vector<float> out(static_cast<std::size_t>(pooledSize(rows, factor)) * pooledSize(cols, factor));
  maxPool(MatrixView(values.data(), rows, cols), factor,
          MutableMatrixView(out.data(), pooledSize(rows, factor), pooledSize(cols, factor)));
  return out;
}

int rank(float value) {
  if (std::isnan(value)) return 3;
  if (value == kMaskedCell) return 0;
  return value == kDeadCell ? 1 : 2;
}

/// The rule as documented: NaN over finite over dead over masked, and the larger of two finite values.
float naive(const std::vector<float>& values, int rows, int cols, int factor, int row, int col) {
  float best = kMaskedCell;
  for (int r = row * factor; r < std::min(rows, (row + 1) * factor); ++r) {
    for (int c = col * factor; c < std::min(cols, (col + 1) * factor); ++c) {
      const float value = values[static_cast<std::size_t>(r) * cols + c];
      const bool wins = rank(value) > rank(best) || (rank(value) == 2 && rank(best) == 2 && value > best);
      if (wins) best = value;
    }
  }
  return best;
}

TEST(MaxPool, MatchesNaiveImplementation) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> scores(-9, 9);
  std::uniform_int_distribution<int> kind(0, 40);
  for (const auto& [rows, cols] :
       {std::pair{1, 1}, {1, 13}, {13, 1}, {17, 23}, {64, 64}, {31, 50}, {9, 1100}}) {
    std::vector<float> values(static_cast<std::size_t>(rows) * cols);
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Runs of special values, so that whole blocks of them occur.
      const int k = i % 29 < 14 ? kind(random) : 5 + static_cast<int>(i / 29 % 4);
      values[i] = k == 4 ? kNan : k >= 5 && k <= 6 ? kMaskedCell : k == 7 ? kDeadCell : scores(random);
    }
    for (const int factor : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 100, 1200}) {
      const auto out = pooled(values, rows, cols, factor);
      const int outCols = pooledSize(cols, factor);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const int row = static_cast<int>(i) / outCols, col = static_cast<int>(i) % outCols;
        const float expected = naive(values, rows, cols, factor, row, col);
        const bool same = std::isnan(expected) ? std::isnan(out[i]) : out[i] == expected;
        ASSERT_TRUE(same) << rows << " × " << cols << " by " << factor << " at " << row << ", " << col << ": "
                          << out[i] << ", expected " << expected;
      }
    }
  }
}

TEST(MaxPool, SingleBrightCellSurvivesEveryFactor) {
  constexpr int kRows = 37, kCols = 53;
  for (const auto& [row, col] : {std::pair{0, 0}, {36, 52}, {20, 1}, {7, 31}}) {
    std::vector<float> values(kRows * kCols, 0.001f);
    values[static_cast<std::size_t>(row) * kCols + col] = 0.9f;
    for (int factor = 1; factor <= 60; ++factor) {
      const auto out = pooled(values, kRows, kCols, factor);
      const int outCols = pooledSize(kCols, factor);
      const std::size_t where = static_cast<std::size_t>(row / factor) * outCols + col / factor;
      for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i == where ? 0.9f : 0.001f) << factor;
    }
  }
}

TEST(MaxPool, SpecialValuesKeepTheirPrecedence) {
  EXPECT_TRUE(std::isnan(pooled({1, kNan, 5, kMaskedCell}, 2, 2, 2)[0]));
  EXPECT_TRUE(std::isnan(pooled({kNan, 1, 2, 3}, 2, 2, 2)[0]));
  EXPECT_EQ(pooled({kDeadCell, -1e30f, kMaskedCell, kDeadCell}, 2, 2, 2)[0], -1e30f);
  EXPECT_EQ(pooled({kMaskedCell, kDeadCell}, 1, 2, 2)[0], kDeadCell);
  EXPECT_EQ(pooled({kMaskedCell, kMaskedCell}, 1, 2, 2)[0], kMaskedCell);
}

TEST(MaxPool, AcceptsEmptyInputAndRefusesInvalidSizes) {
  EXPECT_EQ(maxPooled(Matrix(0, 0), 3).size(), 0);
  EXPECT_EQ(maxPooled(Matrix(0, 5), 3).cols(), 2);
  Matrix out(1, 1);
  EXPECT_THROW(maxPool(Matrix(1, 1), 0, out), std::invalid_argument);
  EXPECT_THROW(maxPool(Matrix(2, 1), 1, out), std::invalid_argument);
}

TEST(MaxPool, ReadsRowsThatArentContiguous) {
  const Matrix whole = Matrix::Random(9, 40);
  EXPECT_EQ(maxPooled(whole.block(1, 3, 7, 33), 4), maxPooled(Matrix(whole.block(1, 3, 7, 33)), 4));
}

}  // namespace
}  // namespace headscope::attention
