// The speed of masks. Rows: cells whose visibility is determined per second, counted as in filling a dense
// mask. Blocks: cells per second classified into the blocks that FlexAttention would compute. Run it as
// described in snapshot_bench.cpp.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "attention/core/result.h"
#include "attention/masks/compile.h"
#include "attention/masks/statistics.h"

namespace {

using namespace headscope::attention;

constexpr Index kTokens = 4096;
constexpr Index kBlockSize = 128;

struct NamedMask {
  const char* name;
  const char* text;
};

/// Every pattern that needs neither a painting nor a file, and masks as models combine them.
constexpr NamedMask kMasks[] = {
    {"full", "full"},
    {"causal", "causal"},
    {"causal_top_left", "causal_top_left"},
    {"padding", "padding"},
    {"window", "window(512)"},
    {"window_back", "window_back(512)"},
    {"window_both", "window_both(512)"},
    {"dilated", "dilated(window=512, step=4)"},
    {"sinks", "sinks(4)"},
    {"streaming", "streaming(sinks=4, window=512)"},
    {"chunked", "chunked(512)"},
    {"globals", "globals([0, 1000, 2000])"},
    {"longformer", "longformer(window=256, positions=[0, 1000, 2000])"},
    {"strided", "strided(64)"},
    {"fixed", "fixed(block=64, summary=4)"},
    {"bigbird", "bigbird(block=64, window=1, global=2, random=3, seed=1)"},
    {"prefix_lm", "prefix_lm(1000)"},
    {"documents", "documents(causal, starts=[700, 1900, 3000])"},
    {"packed", "packed([700, 1900, 3000])"},
    {"shared_prefix", "shared_prefix([700, 1900, 3000])"},
    {"block_diagonal", "block_diagonal(64)"},
    {"block_causal", "block_causal(64)"},
    {"block_diffusion", "block_diffusion(64)"},
    {"tree", "tree"},
    {"neighborhood", "neighborhood(height=64, width=64, kernel=13)"},
    {"neighborhood_z", "neighborhood_z(height=64, width=64, kernel=13)"},
    {"image", "image([100-700, 2000-2600])"},
    {"intervals", "intervals"},
    {"packed_window", "packed([700, 1900, 3000]) & window(512)"},
    {"window_and_sinks", "causal & (window(512) | sinks(4))"},
    {"no_neighbours", "causal & !window(8) | packed([700, 1900]) & strided(64)"},
};

std::shared_ptr<const MaskFormula> compiled(const std::string& text) {
  MaskGeometry geometry;
  geometry.queries = geometry.keys = geometry.keyLength = kTokens;
  geometry.structure = structureOf(kTokens, kTokens, {});
  auto mask = compileMask(parseMask(text).layers, geometry);
  require(mask.ok(), text);
  return *mask;
}

void countCells(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * kTokens * kTokens);
}

void rows(benchmark::State& state, const std::string& text) {
  const auto mask = compiled(text);
  KeyRuns runs;
  for (auto _ : state)
    for (Index row = 0; row < kTokens; ++row) {
      mask->visibleRuns(0, row, runs);
      benchmark::DoNotOptimize(runs.data());
    }
  countCells(state);
}

void blocks(benchmark::State& state, const std::string& text) {
  const auto mask = compiled(text);
  for (auto _ : state) benchmark::DoNotOptimize(mapBlocks(*mask, 0, kBlockSize));
  countCells(state);
}

void statistics(benchmark::State& state, const std::string& text) {
  const auto mask = compiled(text);
  for (auto _ : state) benchmark::DoNotOptimize(measureMask(*mask, 0, 0));
  countCells(state);
}

[[maybe_unused]] const bool kRegistered = [] {
  using Work = void (*)(benchmark::State&, const std::string&);
  constexpr std::pair<const char*, Work> kWork[] = {
      {"MaskRows/", rows}, {"MaskBlocks/", blocks}, {"MaskStatistics/", statistics}};
  for (const auto& [what, work] : kWork)
    for (const NamedMask& mask : kMasks)
      benchmark::RegisterBenchmark((std::string(what) + mask.name).c_str(), work, std::string(mask.text))
          ->Unit(benchmark::kMicrosecond);
  return true;
}();

void BM_Compile(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(compiled("causal & (window([128, 512]) | sinks(4))"));
}
BENCHMARK(BM_Compile)->Unit(benchmark::kMicrosecond);

void BM_Reach(benchmark::State& state) {
  MaskGeometry geometry;
  geometry.queries = geometry.keys = state.range(0);
  geometry.structure = structureOf(state.range(0), state.range(0), {});
  const auto mask = compileMask(parseMask("window(64)").layers, geometry);
  for (auto _ : state) benchmark::DoNotOptimize(reachAfter(**mask, {0}, 12, true));
}
BENCHMARK(BM_Reach)->Arg(512)->Arg(2048)->Unit(benchmark::kMillisecond);

}  // namespace
