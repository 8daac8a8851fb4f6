#include <cmath>

#include "app/pages/map/map_job.h"
#include "attention/cache/kv_cache.h"
#include "attention/core/random.h"
#include "attention/masks/plain_rules.h"
#include "tests/bench/measure/bench.h"

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

namespace {

using attention::HeadField;
using attention::HeadMap;
using attention::MapPart;
using attention::Pooling;

constexpr Index kOverviewSide = 1024;  // pixels
constexpr int kTiles = 40;

Index overviewFactor(Index tokens) {
  Index factor = 1;
  while ((tokens + factor - 1) / factor > kOverviewSide) factor *= 2;
  return factor;
}

/// Tiles anywhere on the head; if it is causal, only on and below the diagonal.
class TilePlaces {
 public:
  TilePlaces(Index tokens, bool causal)
      : last_(tokens > map_page::kTileSide ? tokens - map_page::kTileSide : 0), causal_(causal) {}
  MapPart next() {
    Index row = draw(), key = draw();
    if (causal_ && key > row) std::swap(row, key);
    const Index side = std::min(map_page::kTileSide, last_ + map_page::kTileSide);
    return {row, key, side, side, 1};
  }

 private:
  Index draw() { return static_cast<Index>(random_.uniform() * static_cast<double>(last_ + 1)); }
  attention::Random random_{5};
  Index last_;
  bool causal_;
};

std::vector<double> runMap(const HeadField& field, TilePlaces& places) {
  HeadMap map(field);
  const Index n = map.queries(), factor = overviewFactor(n);
  const double preview = secondsOf([&] { map.preview(factor, Pooling::max, map_page::Effort().preview); });
  const MapPart first = places.next();
  const double unknown = secondsOf([&] { map.weights(first, Pooling::max); });
  const double exact = secondsOf([&] { map.weights({0, 0, n, n, factor}, Pooling::max); });
  std::vector<double> tiles;
  for (int i = 0; i < kTiles; ++i) {
    const MapPart part = places.next();
    tiles.push_back(secondsOf([&] { map.weights(part, Pooling::max); }));
  }
  return {medianOf(std::move(tiles)), unknown, preview, exact};
}

}  // namespace

HeadField randomField(const BenchShape& shape) {
  HeadField field;
  field.config = shape.config;
  field.mask = benchMask(shape, shape.mapTokens, shape.mapTokens);
  attention::Random random(3);
  for (Matrix* matrix : {&field.q, &field.k}) {
    matrix->resize(shape.mapTokens, shape.config.headDim);
    for (Index i = 0; i < matrix->size(); ++i) matrix->data()[i] = random.gaussian();
  }
  return field;
}

BenchCase mapCase(const BenchShape& shape) {
  const auto side = static_cast<double>(std::min(map_page::kTileSide, shape.mapTokens));
  const auto perPair = 2 * static_cast<double>(shape.config.headDim);  // Q·Kᵀ
  const double pairs = visiblePairs(shape.causal, shape.mapTokens);
  using Kind = BenchWork::Kind;
  BenchCase result;
  result.lines = {{"tile", "tile of 256×256 weights", {Kind::flop, perPair * side * side}},
                  {"tile_first", "the first tile in its rows", {}},
                  {"preview", "overview, preview", {}},
                  {"overview", "overview, exact", {Kind::flop, perPair * pairs}}};
  const auto field = std::make_shared<const HeadField>(randomField(shape));
  result.run = [field, places = std::make_shared<TilePlaces>(shape.mapTokens, shape.causal)] {
    return runMap(*field, *places);
  };
  result.prepared = result.lines.back();
  result.prepare = [field] {
    const auto map = std::make_shared<HeadMap>(*field);
    const Index n = map->queries();
    return [map, n] { map->weights({0, 0, n, n, overviewFactor(n)}, Pooling::max); };
  };
  return result;
}

}  // namespace headscope::app
