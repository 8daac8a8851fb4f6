// The time of a map frame for which nothing has to be computed.

#include <benchmark/benchmark.h>

#include <cmath>

#include "app/session/headless.h"

namespace headscope {
namespace {

/// The map page at 1920 × 1080 on a text of 2,000 tokens, with everything in view computed.
class MapFrames {
 public:
  explicit MapFrames(double cellsPerPixel) : app_(1920, 1080) {
    app::Scene& scene = app_.session().scene();
    scene.cursor.page = "map";
    scene.cursor.cell.head = 6;
    scene.map.source = app::MapSource::generated;
    scene.map.tokens = 2000;
    scene.cursor.map = {1000, 1000, cellsPerPixel, 900, 800};
    app_.draw();
  }
  app::Scene& scene() { return app_.session().scene(); }
  app::HeadlessApp& app() { return app_; }

 private:
  app::HeadlessApp app_;
};

void panMap(benchmark::State& state) {
  MapFrames frames(1 / static_cast<double>(state.range(0)));
  double at = 0;
  for (auto _ : state) {
    at += 0.05;
    frames.scene().cursor.map.row = 1000 + 40 * std::sin(at);
    frames.scene().cursor.map.col = 1000 + 40 * std::cos(at);
    frames.app().frame();
    frames.app().finish();
  }
}
BENCHMARK(panMap)->Arg(1)->Arg(2)->Arg(16)->Arg(48)->Unit(benchmark::kMillisecond);

void stillMap(benchmark::State& state) {
  MapFrames frames(0);
  for (auto _ : state) {
    frames.app().frame();
    frames.app().finish();
  }
}
BENCHMARK(stillMap)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headscope
