#include <algorithm>
#include <cmath>
#include <utility>

#include "app/commands/bench/bench.h"
#include "app/commands/bench/stopwatch.h"
#include "attention/cache/cost.h"
#include "attention/core/attention.h"
#include "attention/core/decode.h"
#include "attention/core/random.h"
#include "attention/masks/plain_rules.h"

namespace headscope::app {
namespace {

using attention::AttentionConfig;
using attention::CacheType;
using attention::Index;
using attention::Keep;
using attention::Matrix;
using attention::Stack;

constexpr double kCaseSeconds = 0.04;  // short work is repeated this long per round, for a reliable median

/// Uniform in ±√3, so that the variance is 1, as in a normalised layer's input.
void fillRandom(float* values, Index count, std::uint64_t seed) {
  attention::Random random(seed);
  const double limit = std::sqrt(3.0);
  for (Index i = 0; i < count; ++i) values[i] = static_cast<float>((2 * random.uniform() - 1) * limit);
}

struct Layer {
  AttentionConfig config;
  attention::Projections projections;
  Matrix x;
  attention::MaskInput mask;
};

/// A case of one line that needs no preparation.
BenchCase caseOf(const BenchLine& line, const std::function<void()>& once) {
  return {{line},
          [once] { return std::vector{medianSeconds(kCaseSeconds, once)}; },
          line,
          [once] { return once; }};
}

BenchCase forwardCase(const std::shared_ptr<const Layer>& layer, Keep keep, const BenchLine& line) {
  return caseOf(line, [layer, keep] {
    attention::attend(layer->config, layer->projections, layer->x, layer->x, layer->mask, {}, keep);
  });
}

/// Keys and values of one sequence, [kvHeads, cached, headDim] in the cache's format.
struct FullCache {
  Stack keys, values;  ///< storage for either format
};

/// Random numbers in the cache's format; 16-bit formats pack two of them into a float.
Stack randomNumbers(const BenchShape& shape, std::uint64_t seed) {
  const AttentionConfig& config = shape.config;
  Stack floats = Stack::uninitialized(config.kvHeads, shape.cached, config.headDim);
  fillRandom(floats.data(), floats.size(), seed);
  if (shape.cachedAs == CacheType::f32) return floats;
  Stack halves = Stack::uninitialized(1, 1, (floats.size() + 1) / 2);
  auto* const to = reinterpret_cast<std::uint16_t*>(halves.data());
  for (Index i = 0; i < floats.size(); ++i)
    to[i] = shape.cachedAs == CacheType::f16
                ? Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(floats.data()[i]))
                : Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(floats.data()[i]));
  return halves;
}

/// Filled caches that are read in turn, and the queries of one step.
struct CachedSteps {
  BenchShape shape;  ///< with a config for one step, all other tokens being cached
  attention::MaskInput mask;
  std::vector<FullCache> caches;
  std::size_t next = 0;
  attention::AttentionResult result;
};

/// Runs the attention of one decode step: each head's query over everything cached.
void decodeOnce(CachedSteps& steps) {
  const FullCache& one = steps.caches[steps.next];
  steps.next = (steps.next + 1) % steps.caches.size();
  const BenchShape& shape = steps.shape;
  const attention::CacheView cache{shape.cachedAs, one.keys.data(), one.values.data(), shape.cached,
                                   shape.cached * shape.config.headDim};
  attention::require(attention::decodeHeads(shape.config, steps.mask, cache, Keep::output, steps.result),
                     "the decode step refused a cache of finite numbers");
}

BenchCase decodeCase(const BenchShape& shape) {
  auto steps = std::make_shared<CachedSteps>();
  const AttentionConfig& config = shape.config;
  steps->shape = shape;
  steps->shape.config.cacheLength = shape.cached - 1;
  steps->mask = benchMask(shape, 1, shape.cached);
  steps->result.q = Stack::uninitialized(config.heads, 1, config.headDim);
  fillRandom(steps->result.q.data(), steps->result.q.size(), 3);
  FullCache first{randomNumbers(shape, 1), randomNumbers(shape, 2)};
  // The others are copies: the same numbers elsewhere in memory.
  for (Index i = 1; i < rotatedCaches(shape); ++i) steps->caches.push_back(first);
  steps->caches.push_back(std::move(first));
  const auto bytes = static_cast<double>(cachedBytes(shape));
  return caseOf({"decode", "decode step over the cache", {BenchWork::Kind::bytes, bytes}},
                [steps] { decodeOnce(*steps); });
}

}  // namespace

attention::MaskInput benchMask(const BenchShape& shape, Index tokens, Index keys) {
  attention::MaskGeometry geometry;
  geometry.queries = tokens;
  geometry.keys = keys;
  geometry.cacheLength = keys - tokens;
  geometry.heads = shape.config.heads;
  geometry.kvHeads = shape.config.kvHeads;
  return {attention::compileRules({.causal = shape.causal, .padding = false}, geometry), {}};
}

std::uint64_t cachedBytes(const BenchShape& shape) {
  return attention::kvCacheBytes(shape.config.kvHeads, shape.config.headDim, shape.cached,
                                 attention::cacheTypeBytes(shape.cachedAs));
}

Index rotatedCaches(const BenchShape& shape) {
  const std::uint64_t bytes = cachedBytes(shape);
  constexpr std::uint64_t kMaxCaches = 64;
  return static_cast<Index>(
      std::clamp<std::uint64_t>(kRotatedBytes / std::max<std::uint64_t>(bytes, 1) + 1, 2, kMaxCaches));
}

double visiblePairs(bool causal, Index tokens) {
  const auto n = static_cast<double>(tokens);
  return causal ? n * (n + 1) / 2 : n * n;
}

double forwardFlop(const BenchShape& shape) {
  const AttentionConfig& config = shape.config;
  const double maps =
      2 * static_cast<double>(shape.tokens) * static_cast<double>(attention::parameterCount(config, false));
  // Q·Kᵀ and weights·V.
  const double attention =
      2 * 2 * static_cast<double>(config.heads * config.headDim) * visiblePairs(shape.causal, shape.tokens);
  return maps + attention;
}

std::vector<BenchCase> layerCases(const BenchShape& shape, const BenchParts& parts) {
  std::vector<BenchCase> cases;
  if (parts.forward) {
    auto layer = std::make_shared<Layer>();
    layer->config = shape.config;
    layer->projections = attention::xavierProjections(shape.config, false, 1);
    layer->x.resize(shape.tokens, shape.config.modelDim);
    layer->mask = benchMask(shape, shape.tokens, shape.tokens);
    fillRandom(layer->x.data(), layer->x.size(), 2);
    const BenchWork work{BenchWork::Kind::flop, forwardFlop(shape)};
    cases.push_back(
        forwardCase(layer, Keep::weights, {"forward_weights", "forward, all weights stored", work}));
    cases.push_back(forwardCase(layer, Keep::output, {"forward", "forward, output alone", work}));
  }
  if (parts.decode) cases.push_back(decodeCase(shape));
  return cases;
}

}  // namespace headscope::app
