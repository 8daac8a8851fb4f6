#include "attention/core/mask.h"

#include <gtest/gtest.h>

#include <limits>

namespace headscope::attention::test {
namespace {

/// One character per key, one text per query: '#' where visible.
std::string picture(const AttentionConfig& config, const MaskInput& mask, Index queries, Index keys) {
  std::string text;
  for (Index row = 0; row < queries; ++row) {
    for (Index j = 0; j < keys; ++j) text += visible(config, mask, 0, row, j) ? '#' : '.';
    if (row + 1 < queries) text += '/';
  }
  return text;
}

TEST(Mask, patternsLookAsPublished) {
  AttentionConfig config;
  EXPECT_EQ(picture(config, {}, 2, 3), "###/###");
  config.causal = true;
  EXPECT_EQ(picture(config, {}, 4, 4), "#.../##../###./####");
  config.window = 2;
  EXPECT_EQ(picture(config, {}, 4, 4), "#.../##../.##./..##");
  config.sinks = 1;
  EXPECT_EQ(picture(config, {}, 5, 5), "#..../##.../###../#.##./#..##");
  config.causal = false;
  config.sinks = 0;
  EXPECT_EQ(picture(config, {}, 4, 4), "##../###./.###/..##");
}

TEST(Mask, sinksEscapeTheWindowNotCausality) {
  AttentionConfig config;
  config.causal = true;
  config.window = 1;
  config.sinks = 3;
  EXPECT_EQ(picture(config, {}, 5, 5), "#..../##.../###../####./###.#");
}

TEST(Mask, rowsCountOnFromTheCache) {
  AttentionConfig config;
  config.causal = true;
  config.cacheLength = 3;
  EXPECT_EQ(picture(config, {}, 2, 5), "####./#####");
}

TEST(Mask, keyLengthAndDenseMasksHide) {
  MaskInput mask;
  mask.keyLength = 2;
  EXPECT_EQ(picture({}, mask, 2, 3), "##./##.");
  mask.masked = Stack(1, 2, 3);
  mask.masked[0](0, 1) = 1;
  EXPECT_EQ(picture({}, mask, 2, 3), "#../##.");
  mask.additive = Stack(1, 2, 3);
  mask.additive[0](1, 0) = -std::numeric_limits<float>::infinity();
  mask.additive[0](1, 1) = -1e30f;
  EXPECT_EQ(picture({}, mask, 2, 3), "#../.#.");
}

TEST(Mask, oneMaskPerHeadIsReadByItsHead) {
  AttentionConfig config;
  config.heads = 2;
  MaskInput mask;
  mask.masked = Stack(2, 1, 1);
  mask.masked[1](0, 0) = 1;
  EXPECT_TRUE(visible(config, mask, 0, 0, 0));
  EXPECT_FALSE(visible(config, mask, 1, 0, 0));
}

TEST(Mask, wholeRowsAgreeWithSingleKeys) {
  int checked = 0;
  for (const bool causal : {false, true})
    for (const Index window : {0, 1, 2, 3, 5, 20})
      for (const Index sinks : {0, 1, 4, 9})
        for (const Index keys : {0, 1, 4, 7})
          for (Index length = -1; length <= keys; ++length)
            for (Index i = 0; i < 14; ++i) {
              AttentionConfig config;
              config.causal = causal;
              if (window > 0) config.window = window;
              config.sinks = sinks;
              const std::optional<Index> keyLength = length < 0 ? std::nullopt : std::optional<Index>(length);
              const VisibleKeys row = visibleKeys(config, keyLength, i, keys);
              ASSERT_TRUE(0 <= row.sinkEnd && row.sinkEnd <= row.begin && row.begin <= row.end &&
                          row.end <= keys);
              Index count = 0;
              for (Index j = 0; j < keys; ++j) {
                const bool inRow = j < row.sinkEnd || (j >= row.begin && j < row.end);
                count += inRow;
                ASSERT_EQ(inRow, visibleByRule(config, keyLength, i, j))
                    << "causal " << causal << ", window " << window << ", sinks " << sinks << ", length "
                    << length << ", query " << i << ", key " << j;
              }
              ASSERT_EQ(row.count(), count);
              ++checked;
            }
  EXPECT_GT(checked, 1000);
}

TEST(Mask, widestWindowDoesNotOverflow) {
  AttentionConfig config;
  config.window = std::numeric_limits<Index>::max();
  EXPECT_EQ(visibleKeys(config, {}, 5, 10), (VisibleKeys{0, 0, 10}));
}

TEST(Mask, wrongShapesAreNamed) {
  AttentionConfig config;
  config.heads = 4;
  const auto message = [&](const MaskInput& mask) -> std::string {
    try {
      requireMaskShape(config, mask, 3, 5);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  MaskInput mask;
  EXPECT_EQ(message(mask), "");
  mask.additive = Stack(2, 3, 5);
  EXPECT_EQ(message(mask), "additive mask is [2, 3, 5], expected [1, 3, 5] or [4, 3, 5]");
  mask.additive = Stack(4, 3, 5);
  mask.keyLength = 6;
  EXPECT_EQ(message(mask), "key length is 6, expected 0 to 5");
  mask.keyLength = 0;
  EXPECT_EQ(message(mask), "");
}

}  // namespace
}  // namespace headscope::attention::test
