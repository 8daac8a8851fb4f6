// A row of input times weights in blocks, as a decode step multiplies: weights a second, bytes a second, and
// the share of what reading memory takes on as many threads, measured right before. The weights are as many
// as those of a model of a thousand million numbers: no cache holds them.
#include <benchmark/benchmark.h>

#include <cstring>

#include "attention/core/random.h"
#include "attention/kernels/ceilings.h"
#include "attention/kernels/gemm.h"

namespace {

using namespace headscope::attention;
using kernels::WeightType;

constexpr std::size_t kIn = 2048, kOut = std::size_t{480} << 10;

/// Random codes and scales; the halves d and m of every block are small numbers.
std::vector<std::uint8_t> randomBlocks(WeightType type) {
  const kernels::WeightBlock block = kernels::weightBlock(type);
  std::vector<std::uint8_t> bytes(kernels::weightBytes(type, kIn * kOut));
  Random random(1);
  std::vector<std::uint8_t> one(64 * block.bytes);
  for (std::uint8_t& each : one) each = static_cast<std::uint8_t>(256 * random.uniform());
  const std::uint16_t half = 0x2000;
  for (std::size_t at = 0; at < one.size(); at += block.bytes)
    for (const std::size_t place : {std::size_t{0}, std::size_t{2}, block.bytes - 2, block.bytes - 4})
      std::memcpy(&one[at + place], &half, sizeof half);
  for (std::size_t at = 0; at < bytes.size(); at += one.size())
    std::memcpy(&bytes[at], one.data(), std::min(one.size(), bytes.size() - at));
  return bytes;
}

/// The type, threads.
void BM_BlockRow(benchmark::State& state) {
  const auto type = static_cast<WeightType>(state.range(0));
  kernels::Pool pool(static_cast<int>(state.range(1)));
  const std::vector<std::uint8_t> weights = randomBlocks(type);
  std::vector<float> x(kIn), y(kOut);
  Random random(2);
  for (float& each : x) each = random.gaussian();
  kernels::LinearMap map{weights.data(), nullptr, kOut, {y.data(), kOut, kOut, 0}, type};
  const double ceiling = kernels::readCeiling(pool);
  for (auto _ : state)
    benchmark::DoNotOptimize(kernels::applyMaps(pool, 1, kIn, {x.data(), kIn, kIn, 0}, {&map, 1}));
  const auto rate = [&](double amount) {
    return benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["weights"] = rate(static_cast<double>(kIn * kOut));
  state.counters["bytes"] = rate(static_cast<double>(weights.size()));
  state.counters["reading"] = ceiling;
  state.counters["share"] = rate(static_cast<double>(weights.size()) / ceiling);
}
void blockTypes(benchmark::internal::Benchmark* bench) {
  for (const WeightType type : {WeightType::q4_k, WeightType::q5_k, WeightType::q6_k, WeightType::q8_0,
                                WeightType::q4_0, WeightType::iq4_xs})
    for (const int threads : {1, 2}) bench->Args({static_cast<int>(type), threads});
  bench->ArgNames({"type", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK(BM_BlockRow)->Apply(blockTypes);

}  // namespace
