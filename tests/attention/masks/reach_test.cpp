#include <gtest/gtest.h>

#include "attention/masks/statistics.h"
#include "tests/attention/masks/random_mask.h"

namespace headscope::attention::test {
namespace {

using Relation = std::vector<std::vector<bool>>;

Relation unionOf(const MaskFormula& mask, const std::vector<Index>& variants) {
  const auto n = static_cast<std::size_t>(mask.keys());
  Relation sees(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (const Index variant : variants)
        if (mask.visible(variant, static_cast<Index>(i), static_cast<Index>(j))) sees[i][j] = true;
  return sees;
}

Relation product(const Relation& a, const Relation& b) {
  Relation out(a.size(), std::vector<bool>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j)
      for (std::size_t k = 0; k < a.size(); ++k)
        if (a[i][k] && b[k][j]) out[i][j] = true;
  return out;
}

/// Reach after each number of layers separately, by the definition of the matrix product.
ReachMap slowReach(const Relation& sees, Index layers, bool residual) {
  const std::size_t n = sees.size();
  Relation step = sees;
  for (std::size_t i = 0; residual && i < n; ++i) step[i][i] = true;
  ReachMap map{static_cast<Index>(n), std::vector<std::uint8_t>(n * n), layers};
  Relation power = step;
  for (Index layer = 1; layer <= layers; ++layer) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        std::uint8_t& cell = map.layer[i * n + j];
        if (residual && power[i][j] && cell == 0) cell = static_cast<std::uint8_t>(layer);
        if (!residual && layer == layers && power[i][j]) cell = static_cast<std::uint8_t>(layers);
      }
    power = product(power, step);
  }
  return map;
}

std::vector<Index> allVariants(const MaskFormula& mask) {
  std::vector<Index> variants;
  for (Index variant = 0; variant < mask.variants(); ++variant) variants.push_back(variant);
  return variants;
}

TEST(Reach, MatchesBooleanPowerOfTheMask) {
  Random random(31);
  for (int trial = 0; trial < 120; ++trial) {
    const MaskGeometry geometry = geometryOf(12, 12, 0, 3, 1);
    const MaskLayers layers = randomLayers(random);
    const auto mask = compiled(layers, geometry, randomSources(random, geometry));
    const std::vector<Index> variants = trial % 2 ? allVariants(*mask) : std::vector<Index>{0};
    const Index depth = 1 + pick(random, 6);
    for (const bool residual : {false, true}) {
      const ReachMap found = reachAfter(*mask, variants, depth, residual);
      const ReachMap wanted = slowReach(unionOf(*mask, variants), depth, residual);
      ASSERT_EQ(found.tokens, wanted.tokens);
      ASSERT_EQ(found.layers, wanted.layers);
      ASSERT_EQ(found.layer, wanted.layer)
          << maskText(layers) << ", " << depth << " layers, " << (residual ? "residual" : "plain");
    }
  }
}

TEST(Reach, WindowsReachOneWindowFurtherPerLayer) {
  constexpr Index kTokens = 300, kBack = 7;
  const auto mask = compiled("window_back(7)", geometryOf(kTokens, kTokens));
  const ReachMap map = reachAfter(*mask, {0}, 255, true);
  for (Index i = 0; i < kTokens; ++i)
    for (Index j = 0; j < kTokens; ++j) {
      const Index layers = j > i ? 0 : std::max<Index>(1, (i - j + kBack - 1) / kBack);
      ASSERT_EQ(map.layer[static_cast<std::size_t>(i * kTokens + j)], layers) << i << " from " << j;
    }
}

TEST(Reach, WithoutResidualOnlyTheLastLayerCounts) {
  // Two tokens see only each other: odd layers swap them, even layers swap them back.
  const auto mask = compiled("!window_both(1)", geometryOf(2, 2));
  using Cells = std::vector<std::uint8_t>;
  EXPECT_EQ(reachAfter(*mask, {0}, 3, false).layer, (Cells{0, 3, 3, 0}));
  EXPECT_EQ(reachAfter(*mask, {0}, 4, false).layer, (Cells{4, 0, 0, 4}));
  EXPECT_EQ(reachAfter(*mask, {0}, 4, true).layer, (Cells{1, 1, 1, 1}));
  EXPECT_EQ(reachAfter(*mask, {}, 4, true).layer, (Cells{1, 0, 0, 1}));
}

TEST(Reach, PathsAreShortestAndVisible) {
  Random random(32);
  int found = 0, longest = 0;
  for (int trial = 0; trial < 80; ++trial) {
    const MaskGeometry geometry = geometryOf(12, 12, 0, 2, 1);
    const auto mask = compiled(randomLayers(random), geometry, randomSources(random, geometry));
    const std::vector<Index> variants = allVariants(*mask);
    const Relation sees = unionOf(*mask, variants);
    constexpr Index kLayers = 6;
    for (Index query = 0; query < 12; ++query)
      for (Index key = 0; key < 12; ++key) {
        const auto way = shortestPath(*mask, variants, query, key, kLayers);
        // The first plain power that contains the pair.
        Index steps = 0;
        Relation power = sees;
        for (Index layer = 1; layer <= kLayers && steps == 0; ++layer) {
          if (power[static_cast<std::size_t>(query)][static_cast<std::size_t>(key)]) steps = layer;
          power = product(power, sees);
        }
        ASSERT_EQ(static_cast<Index>(way.size()), steps == 0 ? 0 : steps + 1) << query << " to " << key;
        if (steps == 0) continue;
        ASSERT_EQ(way.front(), query);
        ASSERT_EQ(way.back(), key);
        for (std::size_t k = 1; k < way.size(); ++k)
          ASSERT_TRUE(sees[static_cast<std::size_t>(way[k - 1])][static_cast<std::size_t>(way[k])]);
        ++found;
        longest = std::max(longest, static_cast<int>(steps));
        if (steps > 1) {
          EXPECT_TRUE(shortestPath(*mask, variants, query, key, steps - 1).empty());
        }
      }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(longest, 3);
}

TEST(Reach, FindsLongPaths) {
  const auto mask = compiled("window(2)", geometryOf(5000, 5000));
  const auto way = shortestPath(*mask, {0}, 4999, 0, 5000);
  ASSERT_EQ(way.size(), 5000u);
  for (std::size_t k = 0; k < way.size(); ++k) ASSERT_EQ(way[k], 4999 - static_cast<Index>(k));
  EXPECT_TRUE(shortestPath(*mask, {0}, 0, 4999, 5000).empty());
  EXPECT_EQ(shortestPath(*mask, {0}, 7, 7, 1), (std::vector<Index>{7, 7}));
}

TEST(Reach, LeaksAreSingleSteps) {
  const auto leak = [](const std::string& text) {
    const auto mask = compiled(text, geometryOf(6, 6, 0, 2));
    return shortestLeak(*mask, allVariants(*mask));
  };
  using Way = std::vector<Index>;
  EXPECT_EQ(leak("causal"), Way{});
  EXPECT_EQ(leak("causal & (full | !window(3))"), Way{});
  EXPECT_EQ(leak("!full"), Way{});
  EXPECT_EQ(leak("causal | globals([4])"), (Way{0, 4}));
  EXPECT_EQ(leak("causal then heads(1): image([2-4])"), (Way{2, 3}));
  EXPECT_EQ(leak("prefix_lm(2)"), (Way{0, 1}));
  EXPECT_EQ(leak("full"), (Way{0, 1}));
}

TEST(Reach, LeaksThroughLayersExistInOneLayer) {
  Random random(33);
  for (int trial = 0; trial < 150; ++trial) {
    const MaskGeometry geometry = geometryOf(12, 12, 0, 2, 1);
    const auto mask = compiled(randomLayers(random), geometry, randomSources(random, geometry));
    const auto variants = allVariants(*mask);
    const ReachMap map = reachAfter(*mask, variants, 12, true);
    bool learnsOfLater = false;
    for (Index i = 0; i < 12; ++i)
      for (Index j = i + 1; j < 12; ++j)
        learnsOfLater = learnsOfLater || map.layer[static_cast<std::size_t>(i * 12 + j)] > 0;
    const auto leak = shortestLeak(*mask, variants);
    ASSERT_EQ(!leak.empty(), learnsOfLater);
    if (leak.empty()) continue;
    ASSERT_EQ(leak.size(), 2u);
    EXPECT_GT(leak[1], leak[0]);
    EXPECT_EQ(shortestPath(*mask, variants, leak[0], leak[1], 1), leak);
  }
}

TEST(Reach, EnforcesItsLimits) {
  const auto square = compiled("causal", geometryOf(4, 4)), wide = compiled("causal", geometryOf(3, 4));
  EXPECT_THROW((void)reachAfter(*wide, {0}, 1, true), std::invalid_argument);
  EXPECT_THROW((void)shortestPath(*wide, {0}, 0, 0, 1), std::invalid_argument);
  EXPECT_THROW((void)shortestLeak(*wide, {0}), std::invalid_argument);
  EXPECT_THROW((void)reachAfter(*square, {0}, 0, true), std::invalid_argument);
  EXPECT_THROW((void)reachAfter(*square, {0}, 256, true), std::invalid_argument);
  EXPECT_THROW((void)shortestPath(*square, {0}, 4, 0, 1), std::invalid_argument);
  EXPECT_THROW((void)shortestPath(*square, {0}, 0, -1, 1), std::invalid_argument);
  EXPECT_THROW((void)reachAfter(*compiled("causal", geometryOf(16385, 16385)), {0}, 1, true),
               std::invalid_argument);
  EXPECT_TRUE(reachAfter(*compiled("causal", geometryOf(0, 0)), {0}, 3, true).layer.empty());
}

TEST(Reach, StopsOnRequest) {
  std::stop_source source;
  source.request_stop();
  const auto mask = compiled("causal", geometryOf(50, 50));
  const ReachMap map = reachAfter(*mask, {0}, 3, true, source.get_token());
  EXPECT_EQ(map.layer[50], 0) << "no layer was worked out";
  EXPECT_EQ(map.layer.size(), 2500u);
}

}  // namespace
}  // namespace headscope::attention::test
