#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/cache/kv_cache.h"
#include "attention/core/projections.h"

namespace headscope::attention::test {
namespace {

constexpr std::uint64_t kOneGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::uint64_t>::max();

TEST(Cost, CacheBytesMatchPublishedModels) {
  // One layer, batch 2, 4 heads of 16, 5 tokens, fp32.
  EXPECT_EQ(2 * kvCacheBytes(4, 16, 5, 4), 5120u);
  EXPECT_EQ(kvCacheBytes(4, 16, 5, 4, 2), 5120u);
  // 70B with a kv head per head, fp16, 8,192 tokens: 256 MiB per layer, 20 GiB for 80 layers.
  EXPECT_EQ(kvCacheBytes(64, 128, 8192, 2), kOneGiB / 4);
  EXPECT_EQ(80 * kvCacheBytes(64, 128, 8192, 2), 20 * kOneGiB);
  // Llama-2-70B and Llama-3-70B with 8 kv heads.
  EXPECT_EQ(80 * kvCacheBytes(8, 128, 8192, 2), 5 * kOneGiB / 2);
  // Llama-3.1-8B and GPT-3 175B, one token.
  EXPECT_EQ(32 * kvCacheBytes(8, 128, 1, 2), 131072u);
  EXPECT_EQ(96 * kvCacheBytes(96, 128, 1, 2), 4718592u);
}

TEST(Cost, CacheBytesCoverSlidingLayers) {
  // Gemma-3-27B at 131,072 tokens: of 62 layers, 10 are global and 52 keep only their window of 1,024.
  const std::uint64_t global = kvCacheBytes(16, 128, 131072, 2), sliding = kvCacheBytes(16, 128, 1024, 2);
  EXPECT_EQ(62 * global, 62 * kOneGiB);
  EXPECT_EQ(
      std::llround(static_cast<double>(10 * global + 52 * sliding) / static_cast<double>(kOneGiB) * 100),
      1041);
}

TEST(Cost, SaturatesInsteadOfOverflowing) {
  EXPECT_EQ(kvCacheBytes(Index{1} << 30, Index{1} << 30, 8, 4), kMaxBytes);
  EXPECT_EQ(kvCacheBytes(Index{1} << 62, Index{1} << 62, 0, 4), 0u);
  EXPECT_THROW(kvCacheBytes(8, 128, -1, 2), std::invalid_argument);
}

TEST(Cost, ParameterCountMatchesProjections) {
  AttentionConfig config;
  config.modelDim = 48;
  config.heads = 6;
  config.kvHeads = 2;
  config.headDim = 16;
  for (const bool bias : {false, true}) {
    const Projections p = xavierProjections(config, bias, 1);
    Index count = 0;
    for (const Linear* map : {&p.q, &p.k, &p.v, &p.o}) count += map->weight.size() + map->bias.size();
    EXPECT_EQ(parameterCount(config, bias), static_cast<std::uint64_t>(count));
  }
  // MHA with heads · headDim = modelDim has 4·d² weights.
  config = {};
  config.modelDim = 768;
  config.heads = config.kvHeads = 12;
  config.headDim = 64;
  EXPECT_EQ(parameterCount(config, false), 4u * 768 * 768);
  EXPECT_EQ(parameterCount(config, true), 4u * 768 * 768 + 4 * 768);
  config.modelDim = Index{1} << 60;
  EXPECT_EQ(parameterCount(config, true), kMaxBytes);
}

}  // namespace
}  // namespace headscope::attention::test
