#include "attention/models/token_alignment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headscope::attention::test {
namespace {

using Rows = std::vector<Index>;

Rows aligned(const Rows& text, const Rows& other) {
  return alignTokens(text, other);
}

TEST(TokenAlignment, AlignsEqualTokensAndFillsGapsInOrder) {
  EXPECT_EQ(aligned({1, 2, 3}, {1, 9, 3}), (Rows{0, 1, 2}));
  // Swapped names are aligned by position, although two of them could be matched across.
  EXPECT_EQ(aligned({1, 5, 2, 6, 3, 5, 4, 6}, {1, 6, 2, 5, 3, 6, 4, 5}), (Rows{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(aligned({1, 2, 3, 4}, {1, 2, 8, 3, 4}), (Rows{0, 1, 3, 4}));
  EXPECT_EQ(aligned({1, 2, 8, 3, 4}, {1, 2, 3, 4}), (Rows{0, 1, -1, 2, 3}));
  // One word in place of two is aligned with neither.
  EXPECT_EQ(aligned({1, 7, 4, 5}, {1, 8, 9, 4, 5}), (Rows{0, -1, 3, 4}));
  EXPECT_EQ(aligned({1, 7, 4, 5}, {1, 8, 4, 5, 6}), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(aligned({}, {1}), Rows{});
  EXPECT_EQ(aligned({1, 2}, {}), (Rows{-1, -1}));
}

TEST(TokenAlignment, AlignmentIsAscendingAndSymmetric) {
  const Rows a{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}, b{3, 4, 1, 1, 5, 2, 6, 6, 5, 8, 9, 7};
  const Rows to = aligned(a, b), from = aligned(b, a);
  Index last = -1, pairs = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] < 0) continue;
    EXPECT_GT(to[i], last);
    last = to[i];
    ++pairs;
  }
  EXPECT_EQ(pairs, std::ssize(from) - std::count(from.begin(), from.end(), Index{-1}));
}

TEST(TokenAlignment, TiesOverrideAutomaticAlignment) {
  const std::vector<Index> text{5, 6, 7, 8}, other{5, 6, 9, 8};
  const auto with = [&](std::vector<TokenTie> ties) { return alignTokens(text, other, ties); };
  EXPECT_EQ(with({}).otherOfText, (std::vector<Index>{0, 1, 2, 3}));
  const TokenAlignment tied = with({{1, 2}});
  EXPECT_EQ(tied.otherOfText, (std::vector<Index>{0, 2, -1, 3}));
  EXPECT_EQ(tied.textOfOther, (std::vector<Index>{0, -1, 1, 3}));
  EXPECT_EQ(with({{1, 2}, {1, -1}}).otherOfText, (std::vector<Index>{0, -1, -1, 3}));
  EXPECT_EQ(with({{-1, 3}}).otherOfText, (std::vector<Index>{0, 1, 2, -1}));
  EXPECT_EQ(with({{1, 4}, {4, 1}}).otherOfText, (std::vector<Index>{0, 1, 2, 3}))
      << "there are no such tokens";
}

}  // namespace
}  // namespace headscope::attention::test
