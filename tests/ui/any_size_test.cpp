// Every page, tab and view at any size of window, scale and text: frames end, and all coordinates that they
// draw at are finite.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "app/platform/track.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "render/gl.h"
#include "tests/app/scene/random_scene.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

using app::Scene;

/// More triangle vertices than any page needs; an endless loop draws more.
constexpr int kMaxVertices = 4'000'000;

struct WindowCase {
  int width, height;
  float scale, text;
  bool present;
};

std::string caseName(const WindowCase& window) {
  return fmt::format("{}x{} at {:.2f}, text {:.2f}{}", window.width, window.height, window.scale, window.text,
                     window.present ? ", presenting" : "");
}

/// The subjects a page may have to show: a sentence, a long text on many heads, a model.
std::vector<std::pair<std::string, Scene>> sizedSubjects() {
  Scene large = app::openingScene();
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("w{} ", i);
  large.setup.input.text = text;
  large.setup.model.heads = 16;
  large.setup.model.kvHeads = 4;
  large.setup.model.headDim = 4;
  Scene model = app::openingScene();
  const std::string folder = attention::test::goldenModel("qwen2").string();
  const auto opened = app::openModel(folder);
  if (!opened) throw std::runtime_error(opened.error().message);
  app::adoptModel(model, folder, *opened);
  return {{"sentence", app::openingScene()}, {"long", large}, {"model", model}};
}

class AnySize : public testing::Test {
 protected:
  void expectFrame(const WindowCase& window) {
    SCOPED_TRACE(caseName(window));
    ui.view().preferences.textSize = window.text;
    ui.view().present = window.present;
    ui.view().redraw();
    ui.resize(window.width, window.height, window.scale);
    for (const auto& [name, rect] : app::allTracked())
      ASSERT_TRUE(std::isfinite(rect.Min.x + rect.Min.y + rect.Max.x + rect.Max.y)) << name;
    ASSERT_LT(ImGui::GetDrawData()->TotalVtxCount, kMaxVertices);
    ASSERT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
  }
  UiDriver ui{1280, 720};
};

/// One size per view in the normal run; HEADSCOPE_WINDOW_SIZES=200 tests that many.
TEST_F(AnySize, DrawsEveryView) {
  const char* asked = std::getenv("HEADSCOPE_WINDOW_SIZES");
  const int count = asked ? std::atoi(asked) : 1;
  Dice dice(31);
  for (const auto& [subject, scene] : sizedSubjects())
    for (const PageView& view : pageViews()) {
      SCOPED_TRACE(subject + ", " + view.name);
      ui.session().setScene(withView(scene, view));
      for (int i = 0; i < count; ++i) {
        // Half of the windows are narrow or low, the sizes that are rarely looked at.
        const bool small = dice.coin();
        expectFrame({static_cast<int>(dice.between(320, small ? 900 : 3840)),
                     static_cast<int>(dice.between(240, small ? 900 : 2160)),
                     static_cast<float>(dice.real(0.8, 3)), static_cast<float>(dice.real(0.75, 2)),
                     dice.oneIn(4)});
        if (testing::Test::HasFatalFailure()) return;
      }
    }
}

/// The sizes at which the search for a step on the cache's axis once never ended.
TEST_F(AnySize, DrawsCacheViewsInNarrowWindows) {
  for (const PageView& view : pageViews()) {
    if (!view.name.starts_with("cache")) continue;
    ui.session().setScene(withView(app::openingScene(), view));
    for (const WindowCase window : {WindowCase{500, 900, 1, 1, false}, WindowCase{350, 700, 2, 1, false},
                                    WindowCase{750, 700, 2, 1, false}, WindowCase{800, 700, 1, 1.6f, false},
                                    WindowCase{320, 240, 3, 2, false}, WindowCase{320, 240, 3, 2, true}})
      expectFrame(window);
  }
}

struct StageCase {
  app::Index heads;
  int words;  ///< 0 = the opening sentence
};

/// The weights are random: their numbers are long, and small heads can't hold planted ones.
Scene sceneOf(const StageCase& asked) {
  Scene scene = app::openingScene();
  app::ModelSetup& model = scene.setup.model;
  model.heads = asked.heads;
  model.kvHeads = asked.heads == 1 ? 1 : asked.heads / 4;
  model.headDim = asked.heads == 1 ? 32 : asked.heads == 12 ? 16 : 4;
  model.modelDim = model.heads * model.headDim;
  scene.setup.weights.source = app::WeightSource::random;
  std::string text;
  for (int i = 0; i < asked.words; ++i) text += fmt::format("word{} ", i);
  if (asked.words > 0) scene.setup.input.text = text;
  return scene;
}

class Presented : public testing::TestWithParam<StageCase> {};

TEST_P(Presented, ViewsKeepTheRuleOfTheStage) {
  UiDriver ui(1280, 720);
  ui.view().present = true;
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
    ui.resize(width, height);
    for (const PageView& view : pageViews()) {
      SCOPED_TRACE(fmt::format("{} at {} × {}, {} heads, {} words", view.name, width, height,
                               GetParam().heads, GetParam().words));
      ui.show(withView(sceneOf(GetParam()), view)).park().frames(3);
      const bool told = view.name.starts_with("lessons") || view.name.starts_with("talk");
      std::vector<std::string> wrong = stageFlaws(ui);
      // Points are drawn at their vectors' places, so they may overlap. Learn and Talk tell most in words.
      std::erase_if(wrong, [&](const std::string& flaw) {
        return flaw.starts_with("embeddings.point.") || flaw.starts_with("hull.") ||
               (told && (flaw.starts_with("pictures take") || flaw.starts_with("words take")));
      });
      EXPECT_THAT(wrong, testing::IsEmpty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, Presented,
                         testing::Values(StageCase{12, 3}, StageCase{12, 12}, StageCase{12, 60},
                                         StageCase{1, 0}, StageCase{64, 0}));

}  // namespace
}  // namespace headscope::test
