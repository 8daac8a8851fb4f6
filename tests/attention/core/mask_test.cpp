#include "attention/core/mask.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {
namespace {

/// One string per query with one character per key; '#' = visible.
std::string picture(const MaskInput& mask, Index head, Index queries, Index keys) {
  std::string text;
  for (Index row = 0; row < queries; ++row) {
    for (Index j = 0; j < keys; ++j) text += visible(mask, head, row, j) ? '#' : '.';
    if (row + 1 < queries) text += '/';
  }
  return text;
}

TEST(Mask, OnlyFormulaAndMinusInfinityHideCells) {
  EXPECT_EQ(picture({}, 0, 2, 3), "###/###");
  AttentionConfig config;
  config.heads = 2;
  MaskInput mask = maskFor("heads(0): padding(2)", config, 2, 3);
  EXPECT_EQ(picture(mask, 0, 2, 3), "##./##.");
  EXPECT_EQ(picture(mask, 1, 2, 3), "###/###");
  mask.additive = Stack(1, 2, 3);
  mask.additive[0](1, 0) = -std::numeric_limits<float>::infinity();
  mask.additive[0](1, 1) = -1e30f;
  EXPECT_EQ(picture(mask, 0, 2, 3), "##./.#.");
  EXPECT_EQ(picture(mask, 1, 2, 3), "###/.##");
  mask.additive = Stack(2, 2, 3);
  mask.additive[1].setConstant(-std::numeric_limits<float>::infinity());
  EXPECT_EQ(picture(mask, 0, 2, 3), "##./##.");
  EXPECT_EQ(picture(mask, 1, 2, 3), ".../...");
}

TEST(Mask, DetectsRowsThatSeeTheFuture) {
  for (const Index cached : {0, 3}) {
    AttentionConfig config;
    config.heads = 2;
    config.cacheLength = cached;
    const auto future = [&](const char* text) {
      return seesFuture(*maskFor(text, config, 4, 4 + cached).formula, cached);
    };
    EXPECT_FALSE(future("causal"));
    EXPECT_FALSE(future("window(2) | sinks(1)"));
    EXPECT_FALSE(future("!full"));
    EXPECT_TRUE(future("full"));
    EXPECT_TRUE(future("window_both(2)"));
    EXPECT_TRUE(future("heads(0): causal")) << "head 1 sees it";
    EXPECT_EQ(future("sinks(2)"), cached == 0) << "behind a cache they are past";
  }
}

TEST(Mask, RefusesWrongShapes) {
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
  mask = maskFor("causal", config, 3, 6);
  EXPECT_EQ(message(mask), "the mask's formula is over [4, 3, 6], expected [4, 3, 5]");
  mask = maskFor("causal", config, 3, 5);
  mask.additive = Stack(4, 3, 5);
  EXPECT_EQ(message(mask), "");
}

}  // namespace
}  // namespace headscope::attention::test
