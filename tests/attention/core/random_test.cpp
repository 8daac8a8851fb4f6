#include "attention/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace headscope::attention::test {
namespace {

TEST(Random, MatchesSplitMix64Reference) {
  // The reference implementation's first outputs for the seed 1234567 (prng.di.unimi.it/splitmix64.c).
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(Random, UniformAndGaussianHaveExpectedMoments) {
  constexpr int kCount = 20000;
  Random random(1);
  double uniformSum = 0, sum = 0, squares = 0, neighbours = 0, last = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    uniformSum += u;
    const double g = random.gaussian();
    sum += g;
    squares += g * g;
    neighbours += g * last;
    last = g;
  }
  // Five standard deviations each: 1/√12, 1, √2 and 1 over √count.
  const double five = 5 / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR(uniformSum / kCount, 0.5, five / std::sqrt(12.0));
  EXPECT_NEAR(sum / kCount, 0, five);
  EXPECT_NEAR(squares / kCount, 1, five * std::sqrt(2.0));
  EXPECT_NEAR(neighbours / kCount, 0, five);
}

TEST(Random, HashesAndStreamsDontCollide) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (std::uint64_t stream = 0; stream < 30; ++stream) seen.insert(mixSeed(seed, stream));
  for (const char* text : {"", "a", "b", "ab", "ba", "the", "The"})
    for (std::uint64_t seed = 0; seed < 10; ++seed) seen.insert(hashText(text, seed));
  EXPECT_EQ(seen.size(), 900u + 70u);
  EXPECT_EQ(hashText("token", 3), hashText(std::string("tok") + "en", 3));
}

}  // namespace
}  // namespace headscope::attention::test
