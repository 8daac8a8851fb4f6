#include <fmt/core.h>

#include "app/pages/heads/heads_page.h"
#include "app/pages/map/map_job.h"
#include "app/platform/process.h"
#include "app/scene/fields.h"
#include "app/scene/mask_rules.h"
#include "app/session/headless.h"
#include "tests/bench/measure/bench.h"

namespace headscope::app {
namespace {

constexpr int kFrames = 7;

/// A text of shape.tokens words on random weights of the shape, as if a user had typed it.
Scene benchScene(const BenchShape& shape) {
  Scene scene = openingScene();
  std::string text;
  for (attention::Index i = 0; i < shape.tokens; ++i) text += fmt::format("word{} ", i % 97);
  scene.setup.input.text = text;
  ModelSetup& model = scene.setup.model;
  model.heads = shape.config.heads;
  model.kvHeads = shape.config.kvHeads;
  model.modelDim = shape.config.modelDim;
  model.headDim = shape.config.headDim;
  model.linked = model.heads * model.headDim == model.modelDim;
  scene.setup.weights.source = WeightSource::random;
  scene.setup.weights.planted.clear();
  scene.setup.mask.layers = layersOf({.causal = shape.causal});
  return scene;
}

/// Computes the overview of a long head in the background, from its first preview until destroyed.
class OverviewBeside {
 public:
  explicit OverviewBeside(const attention::HeadField& field)
      : job_(workers_, tiles_,
             [&field](const MapQuestion&, std::stop_token) -> attention::Result<std::optional<MapHead>> {
               MapHead head;
               head.field = field;
               head.text = std::make_shared<const MapText>();
               return std::optional(std::move(head));
             }) {
    job_.look({});
    while (!job_.state()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  Workers workers_{[] {}};
  map_page::TileCache tiles_{std::uint64_t{256} << 20};
  map_page::Job job_;
};

class WindowBench {
 public:
  WindowBench(Scene scene, attention::HeadField beside)
      : scene_(std::move(scene)), beside_(std::move(beside)) {
    open();
    app_->session().setScene(scene_);
    app_->draw();
    // An error message in place of the picture is drawn in no time.
    if (const auto error = app_->session().error()) throw std::runtime_error(*error);
  }

  std::vector<double> run() {
    app_.reset();
    std::vector<double> seconds{secondsOf([&] { open(); })};
    app_->session().setScene(scene_);
    app_->draw();
    for (const double part : slide()) seconds.push_back(part);
    seconds.push_back(longestFrame());
    {
      const OverviewBeside overview(beside_);
      seconds.push_back(slide().back());
    }
    seconds.push_back(viewChange([](Session& session, int i) {
      session.scene().cursor.focus = i % session.scene().setup.model.heads;
    }));
    seconds.push_back(viewChange([](Session& session, int i) {
      session.scene().look.range = i % 2 == 0 ? RangeMode::perHead : RangeMode::logarithmic;
    }));
    seconds.push_back(viewChange([](Session& session, int i) {
      session.page<heads_page::Page>().state().camera = {static_cast<float>(i), static_cast<float>(i), 2};
    }));
    return seconds;
  }

 private:
  void open() {
    requireAddressSpace();
    app_ = std::make_unique<HeadlessApp>(kBenchWidth, kBenchHeight);
    app_->session().settle();
    drawFrame();
  }
  void drawFrame() {
    app_->frame();
    app_->finish();
  }

  /// Moves a slider; returns the seconds of computing, upload, drawing, and all of it.
  std::vector<double> slide() {
    std::vector<double> compute, upload, draw, all;
    Session& session = app_->session();
    for (int i = 0; i < kFrames; ++i) {
      session.scene().setup.model.sharpness = 1 + 0.01f * static_cast<float>(++moved_ % 100);
      double drawn = 0;
      all.push_back(secondsOf([&] {
        session.settle();
        drawn = secondsOf([&] { drawFrame(); });
      }));
      compute.push_back(session.snapshot()->seconds);
      upload.push_back(session.page<heads_page::Page>().uploadSeconds());
      draw.push_back(drawn - upload.back());
    }
    return {medianOf(compute), medianOf(upload), medianOf(draw), medianOf(all)};
  }

  /// The longest frame while a slider moves and nothing waits for results, as in a window.
  double longestFrame() {
    double longest = 0;
    Session& session = app_->session();
    for (int i = 0; i < kFrames; ++i) {
      session.scene().setup.model.sharpness = 1 + 0.01f * static_cast<float>(++moved_ % 100);
      const auto before = session.services().layer.snapshot();
      while (session.services().layer.snapshot() == before) {
        longest = std::max(longest, secondsOf([&] { drawFrame(); }));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    session.settle();
    return longest;
  }

  /// The frame after `change(session, i)`, which needs no new Snapshot.
  template <typename Change>
  double viewChange(const Change& change) {
    std::vector<double> seconds;
    for (int i = 0; i < kFrames; ++i) {
      change(app_->session(), i);
      seconds.push_back(secondsOf([&] { drawFrame(); }));
    }
    return medianOf(std::move(seconds));
  }

  Scene scene_;
  attention::HeadField beside_;
  std::unique_ptr<HeadlessApp> app_;
  int moved_ = 0;
};

}  // namespace

BenchCase windowCase(const BenchShape& shape) {
  const Scene scene = benchScene(shape);
  if (const auto status = validate(scene); !status)
    throw std::runtime_error("the window can't have this: " + status.error().message);
  if (shape.tokens > kMaxTokens)
    throw std::runtime_error(
        fmt::format("the window shows at most {} tokens, {} were asked for", kMaxTokens, shape.tokens));
  auto bench = std::make_shared<WindowBench>(scene, randomField(shape));
  BenchCase result;
  result.lines = {{"first_picture", "first picture, from a fresh session", {}},
                  {"slider_compute", "slider to pixels: computing", {}},
                  {"slider_upload", "slider to pixels: upload", {}},
                  {"slider_draw", "slider to pixels: drawing", {}},
                  {"slider_to_pixels", "slider to pixels: total", {}},
                  {"slider_frame", "slider moving: longest frame", {}},
                  {"slider_beside_map", "slider to pixels, with an overview", {}},
                  {"head_change", "frame with another head", {}},
                  {"range_change", "frame with another range", {}},
                  {"pan", "frame with the head moved", {}}};
  result.run = [bench] { return bench->run(); };
  return result;
}

}  // namespace headscope::app
