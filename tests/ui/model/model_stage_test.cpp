// The page Model on stage: one large picture, few words, nothing small, a legend for each colour scale. And
// what its window says first.

#include <fmt/core.h>

#include "app/platform/ui_state.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/model/model_heads_support.h"

namespace headscope::test {
namespace {

class ModelStage : public ModelHeads {
 protected:
  void expectComposed() {
    ui.view().present = true;
    ui.wait(4.1);  // until what was just done is no longer said
    for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1920, 1080)})
      for (const bool light : {false, true}) {
        ui.view().preferences.light = light;
        ui.resize(width, height).draw();
        EXPECT_THAT(stageFlaws(ui), IsEmpty()) << width << (light ? " light" : " dark");
      }
    ui.view().present = ui.view().preferences.light = false;
    ui.draw();
  }
  bool says(std::string_view words) {
    app::uiState().watches = true;
    ui.draw();
    return std::ranges::any_of(app::uiState().texts,
                               [&](const app::DrawnText& text) { return text.text.starts_with(words); });
  }
};

TEST_F(ModelStage, HeadsAndTheLargeHeadFillIt) {
  ui.request("model.learned").draw();
  expectComposed();
}

TEST_F(ModelStage, BothTextsAreSeenWithEveryPicture) {
  openPair("got");
  expectComposed();
  ui.request("model.view.attribution");
  rest();
  expectComposed();
  ui.view().present = true;
  ui.draw();
  for (const char* name : {"difference.a", "difference.b"}) EXPECT_TRUE(ui.visible(name)) << name;
  EXPECT_LT(ui.find("difference.b").Max.y, ui.find("answer.attribution").Min.y) << "above what it is about";
  ui.request("model.view.lens");
  rest();
  expectComposed();
}

TEST_F(ModelStage, OneTextHasThePictureAlone) {
  ui.request("model.learned").request("model.view.lens");
  rest();
  expectComposed();
  ui.request("model.view.attribution");
  rest();
  expectComposed();
}

TEST_F(ModelStage, StudiedHeadsFillIt) {
  ui.request("model.learned").request("model.texts.examples");
  for (int i = 0; i < 500 && page().texts.progress.done < 6; ++i) ui.draw();
  app::Scene scene = ui.scene();
  scene.cursor.model.study.column = "not measured";  // the first column is shown instead
  ui.show(scene);
  for (const char* shape : {"table", "map", "scatter"}) {
    ui.click(std::string("study.shape.") + shape);
    expectComposed();
  }
}

TEST_F(ModelStage, WindowSaysFirstWhatItShows) {
  ui.resize(1280, 720).request("model.learned");
  rest();
  EXPECT_TRUE(says("Each square is one head"));
  EXPECT_TRUE(says("next after “"));
  EXPECT_LT(ui.find("text").Max.y, ui.find("model.facts").Min.y) << "what can be changed comes first";
}

}  // namespace
}  // namespace headscope::test
