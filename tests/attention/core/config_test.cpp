#include "attention/core/config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace headscope::attention::test {
namespace {

AttentionConfig goodConfig() {
  AttentionConfig config;
  config.modelDim = 64;
  config.heads = 8;
  config.kvHeads = 2;
  config.headDim = 16;
  return config;
}

TEST(Config, AcceptsValidConfigurations) {
  AttentionConfig config = goodConfig();
  EXPECT_TRUE(validate(config).ok());
  config.sharpness = 7.0f;
  config.ropeTheta = 10000.0;
  config.softcap = 50.0f;
  config.scale = 0.0f;
  config.dropout.probability = 0.99f;
  EXPECT_TRUE(validate(config).ok());
}

TEST(Config, RejectsInvalidValuesWithClearMessages) {
  const float infinity = std::numeric_limits<float>::infinity();
  struct Case {
    std::function<void(AttentionConfig&)> change;
    const char* message;
  };
  const Case cases[] = {
      {[](auto& c) { c.modelDim = 0; }, "modelDim is 0, expected at least 1"},
      {[](auto& c) { c.heads = -8; }, "heads is -8, expected at least 1"},
      {[](auto& c) { c.kvHeads = 0; }, "kvHeads is 0, expected at least 1"},
      {[](auto& c) { c.headDim = 0; }, "headDim is 0, expected at least 1"},
      {[](auto& c) { c.kvHeads = 3; }, "kvHeads is 3, expected a divisor of heads (8)"},
      {[](auto& c) { c.kvHeads = 16; }, "kvHeads is 16, expected a divisor of heads (8)"},
      {[](auto& c) { c.cacheLength = -1; },
       "cacheLength is -1, expected at least 0 and within half the index range"},
      {[&](auto& c) { c.scale = infinity; }, "scale is inf, expected a finite number"},
      {[&](auto& c) { c.sharpness = infinity; }, "sharpness is inf, expected a finite number"},
      {[](auto& c) {
         c.headDim = 7;
         c.ropeTheta = 10000.0;
       },
       "headDim is 7, expected an even number, because RoPE rotates pairs"},
      {[](auto& c) { c.ropeTheta = 0.0; }, "ropeTheta is 0.000000, expected a finite number above 0"},
      {[](auto& c) { c.softcap = -1.0f; }, "softcap is -1.000000, expected a finite number above 0"},
      {[](auto& c) { c.softcap = std::nanf(""); }, "softcap is nan, expected a finite number above 0"},
      {[](auto& c) { c.dropout.probability = 1.0f; },
       "dropout is 1.000000, expected a probability from 0 to below 1"},
      {[](auto& c) { c.modelDim = Index{1} << 56; },
       "modelDim 72057594037927936 · heads 8 · headDim 16 overflows"},
  };
  for (const Case& each : cases) {
    AttentionConfig config = goodConfig();
    each.change(config);
    const Status status = validate(config);
    ASSERT_FALSE(status.ok()) << each.message;
    EXPECT_EQ(status.error().message, each.message);
  }
}

TEST(Config, ScaleDefaultsToInverseRootOfHeadSize) {
  AttentionConfig config = goodConfig();
  EXPECT_EQ(config.effectiveScale(), 0.25f);
  config.scale = 3.0f;
  EXPECT_EQ(config.effectiveScale(), 3.0f);
}

TEST(Config, NeighbouringHeadsShareAKvHead) {
  const AttentionConfig config = goodConfig();
  EXPECT_EQ(config.groupSize(), 4);
  EXPECT_EQ(config.kvHeadOf(3), 0);
  EXPECT_EQ(config.kvHeadOf(4), 1);
}

}  // namespace
}  // namespace headscope::attention::test
