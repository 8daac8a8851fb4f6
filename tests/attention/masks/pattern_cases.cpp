#include "tests/attention/masks/pattern_cases.h"

#include <gtest/gtest.h>

namespace headscope::attention::test {
namespace {

constexpr Index kCaseHeads = 5;

struct Sizes {
  Index queries, keys, cacheLength;
};
constexpr Sizes kSizes[] = {{24, 24, 0}, {12, 12, 0},  {1, 1, 0},  {5, 24, 19}, {1, 24, 23}, {24, 7, 0},
                            {7, 24, 0},  {10, 24, 30}, {9, 31, 3}, {0, 24, 0},  {6, 0, 0},   {37, 37, 0}};

void expectPattern(const PatternCase& expected, const Sizes& sizes) {
  const auto mask =
      compiled(expected.text, geometryOf(sizes.queries, sizes.keys, sizes.cacheLength, kCaseHeads, 1));
  ASSERT_EQ(mask->queries(), sizes.queries);
  ASSERT_EQ(mask->keys(), sizes.keys);
  for (Index head = 0; head < kCaseHeads; ++head) {
    const MaskPicture found = pictureOf(*mask, head);
    MaskPicture wanted;
    for (Index row = 0; row < sizes.queries; ++row) {
      wanted.emplace_back();
      for (Index j = 0; j < sizes.keys; ++j)
        wanted.back() += expected.visible({sizes.cacheLength + row, j, row, head, sizes.queries, sizes.keys,
                                           sizes.cacheLength})
                             ? '#'
                             : '.';
    }
    ASSERT_EQ(found, wanted) << expected.text << ", head " << head << ", " << sizes.queries << " × "
                             << sizes.keys << " after " << sizes.cacheLength;
  }
}

}  // namespace

void expectPatterns(const std::vector<PatternCase>& cases) {
  for (const PatternCase& expected : cases) {
    int compared = 0;
    for (const Sizes& sizes : kSizes) {
      if (sizes.keys < expected.keysNeeded || sizes.queries < expected.queriesNeeded) continue;
      ASSERT_NO_FATAL_FAILURE(expectPattern(expected, sizes));
      ++compared;
    }
    EXPECT_GE(compared, 3) << expected.text;
  }
}

}  // namespace headscope::attention::test
