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
using attention::Index;
using attention::Keep;
using attention::Matrix;
using attention::Stack;

constexpr double kCaseSeconds = 0.04;  // a round of something short goes on until it can be trusted

/// Uniform in ±√3, whose variance is 1 as a normalised layer's input has it.
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

BenchCase forwardCase(std::shared_ptr<const Layer> layer, Keep keep, BenchLine line) {
  const auto run = [layer = std::move(layer), keep] {
    return std::vector{medianSeconds(kCaseSeconds, [&] {
      attention::attend(layer->config, layer->projections, layer->x, layer->x, layer->mask, {}, keep);
    })};
  };
  return {{std::move(line)}, run};
}

/// A cache full of numbers, and the queries of one step.
struct CachedStep {
  AttentionConfig config;
  attention::MaskInput mask;
  Stack keys, values;  ///< [kvHeads, cached, headDim]
  attention::AttentionResult result;
};

/// The attention of one decode step: each head's query over everything cached.
void decodeOnce(CachedStep& step) {
  const attention::CacheView cache{attention::CacheType::f32, step.keys.data(), step.values.data(),
                                   step.keys.rows(), step.keys.rows() * step.keys.cols()};
  attention::require(attention::decodeHeads(step.config, step.mask, cache, Keep::output, step.result),
                     "the decode step refused a cache of finite numbers");
}

BenchCase decodeCase(const BenchShape& shape) {
  auto step = std::make_shared<CachedStep>();
  step->config = shape.config;
  step->config.cacheLength = shape.cached - 1;
  step->mask = benchMask(shape, 1, shape.cached);
  step->keys = Stack::uninitialized(shape.config.kvHeads, shape.cached, shape.config.headDim);
  step->values = Stack::uninitialized(shape.config.kvHeads, shape.cached, shape.config.headDim);
  step->result.q = Stack::uninitialized(shape.config.heads, 1, shape.config.headDim);
  std::uint64_t seed = 1;
  for (Stack* stack : {&step->keys, &step->values, &step->result.q})
    fillRandom(stack->data(), stack->size(), seed++);
  const auto bytes = static_cast<double>(
      attention::kvCacheBytes(shape.config.kvHeads, shape.config.headDim, shape.cached, sizeof(float)));
  return {{{"decode", "decode step over the cache", {BenchWork::Kind::bytes, bytes}}},
          [step] { return std::vector{medianSeconds(kCaseSeconds, [&] { decodeOnce(*step); })}; }};
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
