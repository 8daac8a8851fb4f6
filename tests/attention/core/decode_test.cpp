// The decode step compared with the textbook on the same rounded keys and values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "attention/cache/kv_cache.h"
#include "attention/core/attention.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/core/heads_problem.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

constexpr CacheType kTypes[] = {CacheType::f32, CacheType::f16, CacheType::bf16};

/// Rounds every value to Number and stores it, with `capacity` rows between the starts of two heads.
template <typename Number>
std::vector<std::uint8_t> storedAs(Stack& stack, Index capacity) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(stack.count() * capacity * stack.cols()) *
                                  sizeof(Number));
  for (Index g = 0; g < stack.count(); ++g)
    for (Index i = 0; i < stack.rows() * stack.cols(); ++i) {
      float& value = stack[g].data()[i];
      const auto number = static_cast<Number>(value);
      value = static_cast<float>(number);
      std::memcpy(bytes.data() + static_cast<std::size_t>(g * capacity * stack.cols() + i) * sizeof(Number),
                  &number, sizeof(Number));
    }
  return bytes;
}

std::vector<std::uint8_t> stored(CacheType type, Stack& stack, Index capacity) {
  if (type == CacheType::f16) return storedAs<Eigen::half>(stack, capacity);
  if (type == CacheType::bf16) return storedAs<Eigen::bfloat16>(stack, capacity);
  return storedAs<float>(stack, capacity);
}

/// Performs one decode step over the problem's keys and values, stored in a cache of `type`, and expects the
/// textbook's result. Returns false if the step gives no result.
bool expectDecodeIsTextbook(HeadsProblem p, CacheType type) {
  const Index capacity = p.keys() + 3;
  const auto k = stored(type, p.k, capacity), v = stored(type, p.v, capacity);
  const CacheView cache{type, k.data(), v.data(), p.keys(), capacity * p.config.headDim};
  const AttentionResult expected = solveTextbook(p);
  const HeadsLimits limits = limitsOf(p, expected);
  for (const Keep keep : {Keep::output, Keep::weights, Keep::scores}) {
    AttentionResult found;
    found.q = p.q;
    if (!decodeHeads(p.config, p.mask, cache, keep, found)) return false;
    EXPECT_EQ(found.weights.size(), keep == Keep::output ? 0 : expected.weights.size());
    EXPECT_EQ(found.scores.size(), keep == Keep::scores ? expected.scores.size() : 0);
    expectSameHeads(p, limits, expected, found,
                    "decode of type " + std::to_string(static_cast<int>(type)) + ", keep " +
                        std::to_string(static_cast<int>(keep)));
  }
  return true;
}

bool allFinite(const HeadsProblem& p) {
  const auto finite = [](const Stack& stack) {
    return std::all_of(stack.data(), stack.data() + stack.size(), [](float x) { return std::isfinite(x); });
  };
  return finite(p.q) && finite(p.k) && finite(p.v);
}

TEST(Decode, RandomStepsEqualTheTextbook) {
  int decoded = 0, broken = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(mixSeed(seed, 9));
    const Index groups[] = {1, 2, 3, 4, 5, 8};
    HeadsSizes sizes;
    sizes.kvHeads = 1 + pick(random, 3);
    sizes.heads = sizes.kvHeads * groups[seed % 6];
    sizes.headDim = 1 + pick(random, seed % 5 == 0 ? 256 : 40);
    sizes.keys = 1 + pick(random, seed % 7 == 0 ? 1200 : 150);
    const HeadsProblem p = randomHeads(sizes, seed);
    const bool done = expectDecodeIsTextbook(p, kTypes[seed % 3]);
    if (allFinite(p)) {
      EXPECT_TRUE(done) << p.text;
    }
    ++(done ? decoded : broken);
    if (HasFailure()) return;
  }
  EXPECT_GT(decoded, 300);
  EXPECT_GT(broken, 10);
}

TEST(Decode, EveryLengthAroundTheParts) {
  for (const CacheType type : kTypes)
    for (const Index keys : {0, 1, 63, 64, 65, 511, 512, 513, 1023, 1024, 1025, 2000}) {
      HeadsProblem p = plainHeads({6, 2, 37, 1, keys}, 4);
      EXPECT_TRUE(expectDecodeIsTextbook(p, type)) << p.text;
      // A window that begins and ends inside parts, after parts without visible keys.
      p.config.cacheLength = std::max<Index>(keys - 100, 0);
      p.mask = maskFor("causal & window(600)", p.config, 1, keys);
      EXPECT_TRUE(expectDecodeIsTextbook(p, type)) << p.text << ", window";
      if (HasFailure()) return;
    }
}

TEST(Decode, PartWithOnlyNaNKeyGivesNoResult) {
  // The first part has no other visible key, so its maximum stays −inf; the other parts are finite.
  for (const Index broken : {3, 700, 1999}) {
    HeadsProblem p = plainHeads({2, 1, 8, 1, 2000}, 1);
    p.k[0].row(broken).setConstant(kNaN);
    const Index part = broken / 512 * 512;
    const auto until = [](Index key) { return "padding(" + std::to_string(key) + ")"; };
    p.mask =
        maskFor(until(part) + " | !" + until(part + 512) + " | " + until(broken + 1) + " & !" + until(broken),
                p.config, 1, 2000);
    p.text = "key " + std::to_string(broken);
    EXPECT_FALSE(expectDecodeIsTextbook(p, CacheType::f32)) << p.text;
  }
}

TEST(Decode, StopsOnRequest) {
  const HeadsProblem p = plainHeads({2, 1, 8, 1, 40}, 4);
  const CacheView cache{CacheType::f32, p.k.data(), p.v.data(), 40, 320};
  std::stop_source source;
  source.request_stop();
  AttentionResult result;
  result.q = p.q;
  EXPECT_FALSE(decodeHeads(p.config, p.mask, cache, Keep::scores, result, source.get_token()));
}

TEST(Decode, RefusesMismatchedSizes) {
  const HeadsProblem p = plainHeads({2, 2, 8, 1, 40}, 4);
  AttentionResult result;
  result.q = gaussianStack(2, 2, 8, 1);
  CacheView cache{CacheType::f32, p.k.data(), p.v.data(), 40, 320};
  EXPECT_THROW(decodeHeads(p.config, {}, cache, Keep::output, result), std::invalid_argument);
  result.q = p.q;
  cache.headStride = 319;
  EXPECT_THROW(decodeHeads(p.config, {}, cache, Keep::output, result), std::invalid_argument);
}

/// Expects a step's result to be the textbook's for the contents of the cache.
void expectStepIsTextbook(const AttentionConfig& config, const KvCache& cache, const MaskInput& mask,
                          const AttentionResult& step, const std::string& text) {
  HeadsProblem p{config, mask, step.q, Stack(config.kvHeads, cache.length(), config.headDim), {}, text};
  p.v = p.k;
  p.config.cacheLength = cache.length() - step.q.rows();
  for (Index g = 0; g < config.kvHeads; ++g) {
    p.k[g] = cache.keys(g);
    p.v[g] = cache.values(g);
  }
  expectSameHeads(p, solveTextbook(p), step, "cache step");
}

TEST(Decode, StepsOfEveryCacheTypeMatchTextbook) {
  for (const CacheType type : kTypes)
    for (const Index group : {1, 2, 3, 4, 5, 8}) {
      AttentionConfig config = plainConfig(2 * group, 2, 10 + 2 * group);
      config.modelDim = 33;
      config.ropeTheta = 10000;
      config.alibi = group % 2 == 0;
      if (group > 3) config.softcap = 4.0f;
      const Projections projections = xavierProjections(config, true, 3);
      const Matrix x = gaussianMatrix(520, 33, 4);
      KvCache cache(config, 520, type);
      Index done = 0;
      for (const Index count : {509, 1, 1, 1, 1, 3, 1, 1}) {
        config.cacheLength = done;
        const MaskInput mask = maskFor("causal", config, count, done + count);
        const AttentionResult step = cache.append(projections, x.middleRows(done, count), mask);
        done += count;
        if (count > 3) continue;  // this test doesn't check the prompt
        expectStepIsTextbook(config, cache, mask, step,
                             "group " + std::to_string(group) + ", " + std::to_string(done) + " tokens");
      }
    }
}

TEST(Decode, MaskedNonFiniteTokenHasNoEffect) {
  for (const CacheType type : kTypes)
    for (const float value : {kNaN, kInfinity}) {
      AttentionConfig config = plainConfig(4, 2, 9);
      config.modelDim = 21;
      const Projections projections = xavierProjections(config, true, 3);
      Matrix x = gaussianMatrix(30, 21, 4);
      x.row(11).setConstant(value);
      KvCache cache(config, 30, type);
      (void)cache.append(projections, x.topRows(29));
      config.cacheLength = 29;
      const MaskInput mask = maskFor("padding(11) | !padding(12)", config, 1, 30);
      const AttentionResult step = cache.append(projections, x.bottomRows(1), mask);
      EXPECT_TRUE(step.output.allFinite());
      expectStepIsTextbook(config, cache, mask, step, "masked " + std::to_string(value));
    }
}

TEST(Decode, ReadsEveryHalfPrecisionValueExactly) {
  // All 65,536 halves as values. Each row is the only key, so it becomes the output.
  constexpr Index kHeadDim = 13, kKeys = 65'536 / kHeadDim + 1;
  AttentionResult result;
  result.q = Stack(1, 1, kHeadDim);
  for (const CacheType type : {CacheType::f16, CacheType::bf16}) {
    std::vector<std::uint16_t> keys(kKeys * kHeadDim, 0), values(kKeys * kHeadDim, 0);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i);
    const AttentionConfig config = plainConfig(1, 1, kHeadDim);
    int wrong = 0;
    for (Index key = 0; key < kKeys; ++key) {
      const std::uint16_t* const row = values.data() + key * kHeadDim;
      const CacheView one{type, keys.data(), row, 1, kHeadDim};
      const bool done = decodeHeads(config, {}, one, Keep::output, result);
      bool finite = true;
      for (Index t = 0; t < kHeadDim; ++t) {
        const float expected = type == CacheType::f16
                                   ? static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(row[t]))
                                   : static_cast<float>(Eigen::numext::bit_cast<Eigen::bfloat16>(row[t]));
        finite = finite && std::isfinite(expected);
        wrong += std::isfinite(expected) && result.headOutput.at(0, 0, t) != expected;
      }
      EXPECT_EQ(done, finite) << "row " << key;
    }
    EXPECT_EQ(wrong, 0) << "type " << static_cast<int>(type);
  }
}

TEST(Decode, RoundsHalvesToNearest) {
  AttentionConfig config = plainConfig(1, 1, 16);
  config.modelDim = 16;
  const Projections projections = xavierProjections(config, false, 3);
  const Matrix x = gaussianMatrix(40, 16, 4);
  const Matrix exact = projections.k.apply(x);
  for (const auto& [type, bits] :
       {std::pair{CacheType::f16, 11}, {CacheType::bf16, 8}, {CacheType::f32, 24}}) {
    KvCache cache(config, 40, type);
    (void)cache.append(projections, x);
    // Half a unit in the last of `bits` places; normal halves start at 2⁻¹⁴.
    const Matrix limits = exact.cwiseAbs().cwiseMax(0x1p-14f) * std::ldexp(1.0f, -bits);
    const Matrix kept = cache.keys(0);
    EXPECT_TRUE(((kept - exact).cwiseAbs().array() <= limits.array()).all()) << bits;
    EXPECT_EQ(kept == exact, type == CacheType::f32);
  }
}

}  // namespace
}  // namespace headscope::attention::test
