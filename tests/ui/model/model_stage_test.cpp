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
  /// The rules of the stage that the frame breaks. `pictures`: the names of what the view is about.
  std::vector<std::string> broken(const std::vector<std::string>& pictures, bool coloured) {
    const auto size = ImGui::GetIO().DisplaySize;
    std::vector<std::string> wrong = flaws(ui);
    for (const auto& more : {cutOff(ui, Scrolling::doesnt), smallTexts(ui, 20 * size.y / 720 - 0.1f)})
      wrong.insert(wrong.end(), more.begin(), more.end());
    ImRect all(FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX);
    for (const std::string& name : pictures) all.Add(ui.find(name));
    if (all.GetHeight() < 0.65f * size.y)
      wrong.push_back(fmt::format("the picture takes {:.3f} of the height", all.GetHeight() / size.y));
    float words = 0;
    for (const app::DrawnText& text : app::uiState().texts)
      if (!all.Contains(text.area.GetCenter())) words += text.area.GetWidth() * text.area.GetHeight();
    if (words > 0.3f * size.x * size.y)
      wrong.push_back(fmt::format("words take {:.3f} of the area", words / size.x / size.y));
    if (coloured != ui.has("colour_bar"))
      wrong.push_back(coloured ? "a legend is missing" : "there is a legend without colours");
    return wrong;
  }
  void expectComposed(const std::vector<std::string>& pictures, bool coloured) {
    ui.view().present = true;
    ui.wait(4.1);  // until what was just done is no longer said
    for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1920, 1080)})
      for (const bool light : {false, true}) {
        ui.view().preferences.light = light;
        ui.resize(width, height).draw();
        EXPECT_THAT(broken(pictures, coloured), IsEmpty()) << width << (light ? " light" : " dark");
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
  expectComposed({"model.0.0", "model.large"}, true);
}

TEST_F(ModelStage, BothTextsAreSeenWithEveryPicture) {
  openPair("got");
  expectComposed({"answer.patch.grid.heads", "answer.patch.grid.tokens"}, true);
  ui.request("model.view.attribution");
  rest();
  expectComposed({"answer.attribution"}, false);
  ui.view().present = true;
  ui.draw();
  for (const char* name : {"difference.a", "difference.b"}) EXPECT_TRUE(ui.visible(name)) << name;
  EXPECT_LT(ui.find("difference.b").Max.y, ui.find("answer.attribution").Min.y) << "above what it is about";
  ui.request("model.view.lens");
  rest();
  expectComposed({"answer.lens", "answer.lens.b"}, true);
}

TEST_F(ModelStage, OneTextHasThePictureAlone) {
  ui.request("model.learned").request("model.view.lens");
  rest();
  expectComposed({"answer.lens"}, true);
  ui.request("model.view.attribution");
  rest();
  expectComposed({"answer.attribution"}, false);
}

TEST_F(ModelStage, StudiedHeadsFillIt) {
  ui.request("model.learned").request("model.texts.examples");
  for (int i = 0; i < 500 && page().texts.progress.done < 6; ++i) ui.draw();
  app::Scene scene = ui.scene();
  scene.cursor.model.study.column = "not measured";  // the first column is shown instead
  ui.show(scene);
  for (const char* shape : {"table", "map", "scatter"}) {
    ui.click(std::string("study.shape.") + shape);
    expectComposed({"answer.study"}, std::string(shape) == "map");
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
