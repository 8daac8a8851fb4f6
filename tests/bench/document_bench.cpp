// The time of a frame with a large document, and of a head's picture whose mask has thousands of runs per
// row.

#include <benchmark/benchmark.h>

#include "app/session/headless.h"
#include "attention/masks/expression.h"

namespace headscope {
namespace {

void drawFrames(benchmark::State& state, const app::Scene& scene) {
  app::HeadlessApp app(1600, 900);
  app.session().setScene(scene);
  app.draw();
  for (auto _ : state) {
    app.frame();
    app.finish();
  }
}

void frameOfLayers(benchmark::State& state) {
  app::Scene scene = app::openingScene();
  std::string text = "causal";
  for (int i = 0; i < state.range(0); ++i) text += " & window_both(" + std::to_string(i + 2) + ")";
  scene.setup.mask.layers = attention::parseMask(text).layers;
  scene.cursor.page = "mask";
  drawFrames(state, scene);
}
BENCHMARK(frameOfLayers)->Arg(10)->Arg(4000)->Unit(benchmark::kMillisecond);

void frameOfText(benchmark::State& state) {
  app::Scene scene = app::openingScene();
  std::string text;
  for (int i = 0; i < state.range(0); ++i) text += "word ";
  scene.setup.input.text = std::move(text);
  drawFrames(state, scene);
}
BENCHMARK(frameOfText)->Arg(10)->Arg(800'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headscope
