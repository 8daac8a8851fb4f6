// The speed of the mathematics: a layer's forward pass keeping more or less of it, one linear map, parts of
// one long head, a decode step. Counters are floating-point operations or bytes per second. Run it as
// described in snapshot_bench.cpp; `headscope_measure bench` compares with what the machine can do.
#include <benchmark/benchmark.h>

#include "attention/cache/kv_cache.h"
#include "attention/core/attention.h"
#include "attention/core/head_map.h"
#include "tests/bench/measure/bench.h"

namespace {

using namespace headscope::attention;
using benchmark::Counter;

AttentionConfig configOf(Index modelDim, Index heads, Index kvHeads) {
  AttentionConfig config;
  config.modelDim = modelDim;
  config.heads = heads;
  config.kvHeads = kvHeads;
  config.headDim = modelDim / heads;
  return config;
}

void countWork(benchmark::State& state, const char* name, double amount) {
  state.counters[name] = Counter(amount, Counter::kIsIterationInvariantRate, Counter::kIs1000);
}

/// Arguments: tokens, model dim, heads, kv heads.
template <Keep keep>
void BM_Forward(benchmark::State& state) {
  headscope::app::BenchShape shape;
  shape.tokens = state.range(0);
  shape.config = configOf(state.range(1), state.range(2), state.range(3));
  shape.causal = true;
  const MaskInput mask = headscope::app::benchMask(shape, shape.tokens, shape.tokens);
  const Projections projections = xavierProjections(shape.config, false, 1);
  const Matrix x = Matrix::Random(shape.tokens, shape.config.modelDim);
  for (auto _ : state) benchmark::DoNotOptimize(attend(shape.config, projections, x, x, mask, {}, keep));
  countWork(state, "FLOP", headscope::app::forwardFlop(shape));
}
void forwardSizes(benchmark::internal::Benchmark* bench) {
  for (const std::vector<std::int64_t>& size : {std::vector<std::int64_t>{128, 512, 8, 8},
                                                {512, 512, 8, 8},
                                                {512, 768, 12, 12},
                                                {2048, 512, 8, 8},
                                                {1024, 4096, 32, 8}})
    bench->Args(size);
  bench->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK(BM_Forward<Keep::output>)->Apply(forwardSizes);
BENCHMARK(BM_Forward<Keep::weights>)->Apply(forwardSizes);
BENCHMARK(BM_Forward<Keep::scores>)->Apply(forwardSizes);

/// Arguments: rows, inputs, outputs.
void BM_LinearMap(benchmark::State& state) {
  const Linear linear{Matrix::Random(state.range(2), state.range(1)), {}};
  const Matrix x = Matrix::Random(state.range(0), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(linear.apply(x));
  countWork(state, "FLOP", 2.0 * static_cast<double>(state.range(0) * state.range(1) * state.range(2)));
}
BENCHMARK(BM_LinearMap)
    ->Args({1, 768, 768})
    ->Args({128, 512, 512})
    ->Args({512, 768, 768})
    ->Args({1024, 4096, 4096})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

HeadMap longHead(Index tokens) {
  HeadField field;
  field.config = configOf(512, 8, 8);
  field.q = Matrix::Random(tokens, field.config.headDim);
  field.k = Matrix::Random(tokens, field.config.headDim);
  headscope::app::BenchShape shape;
  shape.config = field.config;
  shape.causal = true;
  field.mask = headscope::app::benchMask(shape, tokens, tokens);
  return HeadMap(std::move(field));
}

constexpr Index kLong = 32768;

void BM_Tile(benchmark::State& state) {
  HeadMap map = longHead(kLong);
  const MapPart part{kLong / 2, kLong / 4, 256, 256, 1};
  benchmark::DoNotOptimize(map.weights(part, Pooling::max));  // computes what later calls reuse, which isn't
                                                              // measured
  for (auto _ : state) benchmark::DoNotOptimize(map.weights(part, Pooling::max));
}
BENCHMARK(BM_Tile)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Preview(benchmark::State& state) {
  HeadMap map = longHead(kLong);
  for (auto _ : state) benchmark::DoNotOptimize(map.preview(32, Pooling::max, 4e9));
}
BENCHMARK(BM_Preview)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Overview(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    HeadMap map = longHead(kLong);
    state.ResumeTiming();
    benchmark::DoNotOptimize(map.weights({0, 0, kLong, kLong, 32}, Pooling::max));
  }
}
BENCHMARK(BM_Overview)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Argument: cached tokens.
void BM_Decode(benchmark::State& state) {
  AttentionConfig config = configOf(4096, 32, 8);
  const Index cached = state.range(0);
  config.cacheLength = cached - 1;
  const Stack keys(config.kvHeads, cached, config.headDim), values = keys;
  AttentionResult result;
  result.q = Stack(config.heads, 1, config.headDim);
  const headscope::attention::CacheView cache{CacheType::f32, keys.data(), values.data(), cached,
                                              cached * config.headDim};
  for (auto _ : state) benchmark::DoNotOptimize(decodeHeads(config, {}, cache, Keep::output, result));
  countWork(state, "bytes",
            static_cast<double>(kvCacheBytes(config.kvHeads, config.headDim, cached, sizeof(float))));
}
BENCHMARK(BM_Decode)->Arg(1024)->Arg(8192)->Arg(16384)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
