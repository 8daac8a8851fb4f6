// The time from a changed Scene to a Snapshot. Run a Release build on a quiet machine, and compare only rows
// of the same run: build/tests/headscope_bench --benchmark_min_time=1
#include <benchmark/benchmark.h>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/snapshot.h"
#include "app/compute/mask/mask_study.h"

namespace {

using namespace headscope::app;

/// `tokens` words on `heads` heads, as a typical user might have.
Setup setupOf(Index tokens, Index heads, Index modelDim, WeightSource source) {
  Setup setup = openingScene().setup;
  std::string text;
  for (Index i = 0; i < tokens; ++i) text += "word" + std::to_string(i % 97) + " ";
  setup.input.text = text;
  setup.model.heads = heads;
  setup.model.kvHeads = heads;
  setup.model.modelDim = modelDim;
  setup.model.headDim = modelDim / heads;
  setup.weights.source = source;
  return setup;
}

void snapshotOf(benchmark::State& state, const Setup& setup) {
  for (auto _ : state) benchmark::DoNotOptimize(computeSnapshot(setup, defaultLimits()));
}

void BM_OpeningScene(benchmark::State& state) {
  snapshotOf(state, openingScene().setup);
}
BENCHMARK(BM_OpeningScene)->Unit(benchmark::kMillisecond);

void BM_PlantWeights(benchmark::State& state) {
  const Setup setup = openingScene().setup;
  for (auto _ : state) benchmark::DoNotOptimize(buildProjections(setup, 12));
}
BENCHMARK(BM_PlantWeights)->Unit(benchmark::kMillisecond);

void BM_Embed(benchmark::State& state) {
  const Setup setup = openingScene().setup;
  for (auto _ : state)
    for (const LineTokens& line : tokenizeBatch(setup).lines)
      benchmark::DoNotOptimize(embedLine(setup, line));
}
BENCHMARK(BM_Embed)->Unit(benchmark::kMillisecond);

void BM_Random(benchmark::State& state) {
  snapshotOf(state, setupOf(state.range(0), state.range(1), state.range(2), WeightSource::random));
}
BENCHMARK(BM_Random)
    ->Args({64, 8, 256})
    ->Args({512, 12, 768})
    ->Args({2048, 8, 512})
    ->Unit(benchmark::kMillisecond);

/// Dragging a slider: unchanged parts are kept from one Snapshot to the next, as in the window.
void BM_Slider(benchmark::State& state) {
  Setup setup = setupOf(state.range(0), state.range(1), state.range(2), WeightSource::random);
  setup.weights.planted.clear();
  Resources resources(defaultLimits());
  Snapshot shown;
  for (int moved = 0; auto _ : state) {
    setup.model.sharpness = 1 + 0.01f * static_cast<float>(++moved % 100);
    shown = computeSnapshot(setup, resources);
  }
}
BENCHMARK(BM_Slider)
    ->Args({64, 8, 512})
    ->Args({512, 8, 512})
    ->Args({512, 12, 768})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void BM_Attend(benchmark::State& state) {
  const Setup setup = setupOf(state.range(0), state.range(1), state.range(2), WeightSource::random);
  const auto line = embedLine(setup, tokenizeBatch(setup).lines.front());
  const auto projections = buildProjections(setup, state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(
        headscope::attention::attend(configOf(setup), *projections, line->x, line->x, {}));
}
BENCHMARK(BM_Attend)
    ->Args({64, 8, 256})
    ->Args({512, 12, 768})
    ->Args({2048, 8, 512})
    ->Unit(benchmark::kMillisecond);

/// What the mask studio computes for the next frame when a parameter changes.
void BM_StudyMask(benchmark::State& state) {
  MaskQuestion question;
  question.setup = setupOf(state.range(0), 12, 768, WeightSource::random);
  question.setup.mask.layers =
      headscope::attention::parseMask(
          "causal & (window([8, 16, 32, 64, 96, 128, 160, 192, 224, 256, 384, 512]) | sinks(4))")
          .layers;
  for (auto _ : state) benchmark::DoNotOptimize(studyMask(question));
}
BENCHMARK(BM_StudyMask)->Arg(64)->Arg(512)->Arg(2048)->Unit(benchmark::kMillisecond);

void BM_StudyReach(benchmark::State& state) {
  MaskQuestion question;
  question.setup = setupOf(state.range(0), 12, 768, WeightSource::random);
  const MaskStudy study = studyMask(question);
  const ReachQuestion reach{study.mask.formula, -1, 8, true};
  for (auto _ : state) benchmark::DoNotOptimize(studyReach(reach));
}
BENCHMARK(BM_StudyReach)->Arg(512)->Arg(2048)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
