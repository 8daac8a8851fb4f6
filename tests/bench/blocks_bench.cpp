// Rows of input times weights in blocks, as in a decode step. Reports weights per second, bytes per second,
// and how the time compares with merely reading the same bytes on as many threads. There are as many weights
// as in a model of a thousand million parameters, more than any cache holds.
#include <benchmark/benchmark.h>

#include <cstring>

#include "attention/core/random.h"
#include "attention/kernels/gemm.h"
#include "tests/bench/measure/bench.h"

namespace {

using namespace headscope::attention;
namespace app = headscope::app;
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
  for (std::size_t at = 0; at < one.size(); at += block.bytes) {
    if (type == WeightType::mxfp4) {
      one[at] = 120;
      continue;
    }
    for (const std::size_t place : {std::size_t{0}, std::size_t{2}, block.bytes - 2, block.bytes - 4})
      std::memcpy(&one[at + place], &half, sizeof half);
  }
  for (std::size_t at = 0; at < bytes.size(); at += one.size())
    std::memcpy(&bytes[at], one.data(), std::min(one.size(), bytes.size() - at));
  return bytes;
}

/// Arguments: type, threads, rows. "share": the time to read the same bytes as a share of the products' time,
/// measured alternately; the median.
void BM_BlockRow(benchmark::State& state) {
  const auto type = static_cast<WeightType>(state.range(0));
  kernels::Pool pool(static_cast<int>(state.range(1)));
  const auto rows = static_cast<std::size_t>(state.range(2));
  const std::vector<std::uint8_t> weights = randomBlocks(type);
  std::vector<float> x(rows * kIn), y(rows * kOut);
  Random random(2);
  for (float& each : x) each = random.gaussian();
  kernels::LinearMap map{weights.data(), nullptr, kOut, {y.data(), kOut, kOut, 0}, type};
  std::vector<double> shares, reading;
  for (auto _ : state) {
    const double product = app::secondsOf([&] {
      benchmark::DoNotOptimize(kernels::applyMaps(pool, rows, kIn, {x.data(), kIn, kIn, 0}, {&map, 1}));
    });
    reading.push_back(app::secondsOf([&] { benchmark::DoNotOptimize(app::readOnce(pool, weights)); }));
    shares.push_back(reading.back() / product);
    state.SetIterationTime(product);
  }
  const auto rate = [&](double amount) {
    return benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["weights"] = rate(static_cast<double>(kIn * kOut));
  state.counters["bytes"] = rate(static_cast<double>(weights.size()));
  state.counters["reading"] = static_cast<double>(weights.size()) / app::medianOf(std::move(reading));
  state.counters["share"] = app::medianOf(std::move(shares));
}
void blockTypes(benchmark::internal::Benchmark* bench) {
  for (const WeightType type :
       {WeightType::q4_k, WeightType::q5_k, WeightType::q6_k, WeightType::q8_0, WeightType::q4_0,
        WeightType::q4_1, WeightType::q5_0, WeightType::q5_1, WeightType::q2_k, WeightType::q3_k,
        WeightType::iq4_nl, WeightType::iq4_xs, WeightType::mxfp4})
    for (const int threads : {1, 2}) bench->Args({static_cast<int>(type), threads, 1});
  for (const WeightType type : {WeightType::q4_k, WeightType::q6_k})
    for (const int rows : {2, 4, 8, 9, 16, 128}) bench->Args({static_cast<int>(type), 2, rows});
  bench->ArgNames({"type", "threads", "rows"})->Unit(benchmark::kMillisecond)->UseManualTime();
}
BENCHMARK(BM_BlockRow)->Apply(blockTypes);

}  // namespace
