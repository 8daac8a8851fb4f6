#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "app/pages/map/map_job.h"
#include "render/heatmap.h"

namespace headscope::app::map_page {
namespace {

using attention::Matrix;

TileKey keyOf(Index at, std::uint64_t field = 1) {
  return {field, Pooling::max, {0, at, 0}};
}
Matrix filled(float value) {
  return Matrix::Constant(16, 16, value);
}
/// The bytes that one of these tiles takes in the cache.
std::uint64_t bytesOfOne() {
  TileCache cache(1 << 20);
  cache.put(keyOf(0), filled(1), false);
  return cache.bytes();
}

TEST(TileCache, ReturnsStoredTiles) {
  TileCache cache(1 << 20);
  EXPECT_FALSE(cache.find(keyOf(3)));
  EXPECT_TRUE(cache.put(keyOf(3), filled(0.5f), true));
  const auto tile = cache.find(keyOf(3));
  ASSERT_TRUE(tile);
  EXPECT_EQ(*tile->values, filled(0.5f));
  EXPECT_EQ(tile->most, 0.5f);
  EXPECT_TRUE(tile->preview);
  EXPECT_FALSE(cache.has({1, Pooling::mean, {0, 3, 0}}));
  EXPECT_EQ(cache.tiles(), 1U);
}

TEST(TileCache, ChangedTileGetsNewRevision) {
  TileCache cache(1 << 20);
  cache.put(keyOf(0), filled(1), true);
  const auto before = cache.find(keyOf(0))->revision;
  cache.put(keyOf(0), filled(1), false);
  EXPECT_NE(cache.find(keyOf(0))->revision, before);
  EXPECT_EQ(cache.tiles(), 1U);
  EXPECT_EQ(cache.bytes(), bytesOfOne());
}

TEST(TileCache, LargestValueIgnoresMarks) {
  TileCache cache(1 << 20);
  Matrix values = filled(0.25f);
  values(0, 0) = render::kMaskedCell;
  values(1, 0) = render::kDeadCell;
  values(2, 0) = std::numeric_limits<float>::quiet_NaN();
  cache.put(keyOf(0), values, false);
  EXPECT_EQ(cache.find(keyOf(0))->most, 0.25f);
}

TEST(TileCache, EvictsLeastRecentlyUsedFirst) {
  TileCache cache(3 * bytesOfOne());
  for (Index i = 0; i < 3; ++i) cache.put(keyOf(i), filled(1), false);
  cache.find(keyOf(0));
  cache.put(keyOf(3), filled(1), false);
  EXPECT_TRUE(cache.has(keyOf(0)));
  EXPECT_FALSE(cache.has(keyOf(1)));
  EXPECT_TRUE(cache.has(keyOf(2)));
  EXPECT_TRUE(cache.has(keyOf(3)));
}

TEST(TileCache, NeverEvictsTilesInView) {
  TileCache cache(3 * bytesOfOne());
  for (Index i = 0; i < 3; ++i) cache.put(keyOf(i), filled(1), false);
  cache.keepInView({keyOf(0), keyOf(1)});
  EXPECT_TRUE(cache.put(keyOf(3), filled(1), false));
  EXPECT_TRUE(cache.put(keyOf(4), filled(1), false));
  EXPECT_TRUE(cache.has(keyOf(0)) && cache.has(keyOf(1)) && cache.has(keyOf(4)));
  cache.keepInView({keyOf(0), keyOf(1), keyOf(4)});
  EXPECT_FALSE(cache.put(keyOf(5), filled(1), false)) << "there is no room";
  EXPECT_EQ(cache.tiles(), 3U);
}

TEST(TileCache, ForgetsOtherHeads) {
  TileCache cache(1 << 20);
  cache.put(keyOf(0, 1), filled(1), false);
  cache.put(keyOf(0, 2), filled(1), false);
  cache.keepOnly(2);
  EXPECT_FALSE(cache.has(keyOf(0, 1)));
  EXPECT_TRUE(cache.has(keyOf(0, 2)));
  EXPECT_EQ(cache.bytes(), bytesOfOne());
}

TEST(TileCache, NeverExceedsBudget) {
  std::mt19937 dice(7);
  const std::uint64_t budget = 10 * bytesOfOne();
  TileCache cache(budget);
  for (int i = 0; i < 3000; ++i) {
    const auto at = static_cast<Index>(dice() % 40);
    if (dice() % 7 == 0) {
      std::vector<TileKey> view;
      for (Index k = 0; k < static_cast<Index>(dice() % 14); ++k) view.push_back(keyOf(at + k));
      cache.keepInView(view);
    }
    if (dice() % 2 == 0)
      cache.put(keyOf(at), Matrix::Constant(static_cast<Index>(1 + dice() % 24), 16, 1), dice() % 2 == 0);
    else
      cache.find(keyOf(at));
    ASSERT_LE(cache.bytes(), budget);
  }
  EXPECT_LE(cache.peakBytes(), budget);
  EXPECT_GT(cache.peakBytes(), budget / 2);
}

TEST(TileCache, IsThreadSafe) {
  const std::uint64_t budget = 8 * bytesOfOne();
  TileCache cache(budget);
  std::vector<std::jthread> threads;
  for (unsigned seed = 0; seed < 3; ++seed)
    threads.emplace_back([&cache, seed] {
      std::mt19937 dice(seed);
      for (int i = 0; i < 2000; ++i) {
        const TileKey key = keyOf(static_cast<Index>(dice() % 20), 1 + dice() % 2);
        switch (dice() % 5) {
          case 0:
          case 1:
            cache.put(key, filled(static_cast<float>(key.place.row)), false);
            break;
          case 2:
            cache.keepInView({key});
            break;
          case 3:
            if (dice() % 50 == 0) cache.keepOnly(key.field);
            break;
          default:
            if (const auto tile = cache.find(key)) {
              EXPECT_EQ((*tile->values)(3, 3), static_cast<float>(key.place.row));
            }
        }
      }
    });
  threads.clear();
  EXPECT_LE(cache.peakBytes(), budget);
}

}  // namespace
}  // namespace headscope::app::map_page
