#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "attention/core/score_terms.h"
#include "attention/core/tensor.h"

namespace headscope::attention {
namespace {

constexpr float kUnbounded = std::numeric_limits<float>::infinity();
const float kNoNumber = std::nanf("");
/// Around every possible number of lanes, and with remainders.
constexpr std::size_t kRowLengths[] = {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 50};

TEST(ScoreRows, SeenKeysEndAtLastScoreAboveMinusInfinity) {
  for (const std::size_t count : kRowLengths)
    for (std::size_t end = 0; end <= count; ++end) {
      std::vector<float> scores(count, kMinusInfinity);
      for (std::size_t i = 0; i < end; i += 2) scores[i] = -1;
      if (end > 0) scores[end - 1] = kUnbounded;
      if (end < count) scores[end] = kNoNumber;  // NaN isn't a score that makes a key visible
      const SeenKeys seen = seenKeys(scores.data(), count);
      EXPECT_EQ(seen.end, end) << count;
      EXPECT_EQ(seen.count, end == 0 ? 0 : (end + 1) / 2 + (end % 2 == 0)) << count << " " << end;
    }
}

TEST(ScoreRows, LargestScoreKeepsNaN) {
  EXPECT_EQ(largestOf(nullptr, 0), kMinusInfinity);
  for (const std::size_t count : kRowLengths)
    for (std::size_t at = 0; at < count; ++at) {
      std::vector<float> values(count, -2.0f);
      values[at] = 0.5f;
      EXPECT_EQ(largestOf(values.data(), count), 0.5f) << count << " " << at;
      values[at] = kUnbounded;
      EXPECT_EQ(largestOf(values.data(), count), kUnbounded) << count << " " << at;
      values[at] = kNoNumber;
      EXPECT_TRUE(std::isnan(largestOf(values.data(), count))) << count << " " << at;
    }
}

TEST(ScoreRows, MarksMaskedCellsAndFindsFiniteExtremes) {
  for (const std::size_t count : kRowLengths)
    for (std::size_t at = 0; at + 4 <= count; ++at) {
      std::vector<float> scores(count, 1.0f), values(count, 0.25f), marked(count);
      scores[at] = kMinusInfinity, scores[at + 1] = kNoNumber, scores[at + 2] = kUnbounded,
      scores[at + 3] = -7;
      values[at + 1] = kNoNumber, values[at + 2] = -kUnbounded, values[at + 3] = -0.5f;
      RowExtremes extremes{kUnbounded, kMinusInfinity, 0};
      markRow(scores.data(), values.data(), count, marked.data(), extremes);
      EXPECT_EQ(extremes.low, -7);
      EXPECT_EQ(extremes.high, count > 4 ? 1 : -7);
      EXPECT_EQ(extremes.most, 0.5f);
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_TRUE(i == at       ? marked[i] == kMinusInfinity
                    : i == at + 1 ? std::isnan(marked[i])
                                  : marked[i] == values[i])
            << count << " " << i;
    }
}

}  // namespace
}  // namespace headscope::attention
