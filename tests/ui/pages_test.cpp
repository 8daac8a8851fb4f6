// Rules for every page at every size, in both themes, presented or not: nothing overlaps, nothing is cut off,
// everything is legible.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "app/widgets/view.h"
#include "attention/masks/expression.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

struct Size {
  int width, height;
  float scale;
};

std::string sizeName(const testing::TestParamInfo<Size>& info) {
  return fmt::format("at{}x{}by{:.0f}percent", info.param.width, info.param.height, info.param.scale * 100);
}

class Pages : public testing::TestWithParam<Size> {
 protected:
  Pages() : ui(GetParam().width, GetParam().height, GetParam().scale) {}

  /// Parks the pointer and checks the frame once it has settled.
  void expectAllToBeSeen() {
    ui.park().wait(0.3);
    EXPECT_THAT(overlaps(ui), IsEmpty());
    EXPECT_THAT(cutOff(ui), IsEmpty());
    EXPECT_THAT(faintTexts(ui, ui.view().present ? 7 : 4.5), IsEmpty());
    EXPECT_THAT(faintMarks(ui), IsEmpty());
  }
  /// Light or not. Themes differ only in colours, which the smaller sizes test at less cost.
  static std::vector<bool> themes() {
    return GetParam().width > 1920 ? std::vector<bool>{false} : std::vector<bool>{false, true};
  }
  UiDriver ui;
};

/// Nothing overlaps, is cut off or is too faint.
TEST_P(Pages, FitAndAreLegibleInEveryTheme) {
  for (const bool light : themes())
    for (const bool present : {false, true})
      for (const app::PageRow& lab : app::pageTable()) {
        SCOPED_TRACE(
            fmt::format("{}{}{}", lab.info.key, light ? ", light" : ", dark", present ? ", presenting" : ""));
        ui.view().preferences.light = light;
        ui.view().present = present;
        ui.session().scene().cursor.page = lab.info.key;
        ui.view().redraw();
        expectAllToBeSeen();
      }
}

/// Other states of the heads and mask pages: one large head, a decode, biases, two masks.
TEST_P(Pages, OtherPageStatesFitAndAreLegible) {
  using app::Scene;
  const std::pair<const char*, void (*)(Scene&)> kStates[] = {
      {"one head", [](Scene& scene) { scene.cursor.focus = 3; }},
      {"a decode",
       [](Scene& scene) {
         scene.cursor.decoding = true;
         scene.cursor.step = 8;
       }},
      {"biases",
       [](Scene& scene) {
         scene.cursor.page = "mask";
         scene.cursor.studio.tab = app::StudioTab::biases;
         scene.setup.model.position = app::PositionKind::alibi;
       }},
      {"two masks", [](Scene& scene) {
         scene.cursor.page = "mask";
         scene.cursor.studio.tab = app::StudioTab::compare;
         scene.setup.mask.compare = true;
         scene.setup.mask.other = attention::parseMask("causal & window(4)").layers;
       }}};
  for (const bool light : themes())
    for (const auto& [name, change] : kStates) {
      SCOPED_TRACE(std::string(name) + (light ? ", light" : ", dark"));
      Scene scene = app::openingScene();
      change(scene);
      ui.view().preferences.light = light;
      ui.session().setScene(scene);
      expectAllToBeSeen();
    }
}

/// Every tab and view: a contrast of 4.5:1, or 7:1 when presented, and no small text.
TEST(Views, TextIsLegibleInBothThemesAndWhenPresenting) {
  UiDriver ui(1280, 720);
  for (const PageView& view : pageViews())
    for (const bool light : {false, true})
      for (const bool present : {false, true}) {
        SCOPED_TRACE(view.name + (light ? ", light" : ", dark") + (present ? ", presenting" : ""));
        ui.view().preferences.light = light;
        ui.view().present = present;
        ui.session().setScene(withView(app::openingScene(), view));
        ui.park().wait(0.3);
        EXPECT_THAT(faintTexts(ui, present ? 7 : 4.5), IsEmpty());
        EXPECT_THAT(smallTexts(ui, present ? 18 : 10), IsEmpty());
      }
}

/// The names of the marks in the last frame that was checked.
std::vector<std::string> markNames() {
  std::vector<std::string> names;
  for (const app::DrawnMark& mark : app::uiState().marks) names.push_back(mark.name);
  return names;
}

/// A crosshair has to be visible over every colour that a picture can have.
TEST(Marks, CrosshairsAreVisibleOnEveryColormap) {
  UiDriver ui(1280, 720);
  for (const bool light : {false, true})
    for (const render::Colormap colormap : render::kColormaps) {
      SCOPED_TRACE(std::string(render::name(colormap)) + (light ? ", light" : ", dark"));
      ui.view().preferences.light = light;
      ui.session().scene().look.colormap = colormap;
      ui.session().scene().cursor.focus = 3;
      ui.draw();
      for (const float place : {0.1f, 0.5f, 0.9f}) {
        ui.hoverAt("focus", place, place).frames(2);
        EXPECT_THAT(faintMarks(ui), IsEmpty()) << place;
        EXPECT_THAT(markNames(), testing::Contains("crosshair"));
      }
    }
}

TEST(Marks, FocusedTextBoxHasAVisibleFrame) {
  UiDriver ui(1280, 720);
  for (const bool light : {false, true}) {
    ui.view().preferences.light = light;
    ui.chord(kCtrl, app::Key::o);
    // Marks in the dialog's shade are meant to be faint.
    EXPECT_THAT(faintMarks(ui), testing::Not(testing::Contains(testing::HasSubstr("focus"))));
    EXPECT_THAT(markNames(), testing::Contains("focus"));
    ui.key(app::Key::escape);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Pages,
                         testing::Values(Size{1280, 720, 1}, Size{1920, 1080, 1}, Size{3840, 2160, 1},
                                         Size{1280, 800, 2}, Size{1920, 1080, 2}, Size{3840, 2160, 2}),
                         sizeName);

double contrastOf(std::uint32_t a, std::uint32_t b) {
  const double first = app::luminance(app::unpacked(a)) + 0.05,
               second = app::luminance(app::unpacked(b)) + 0.05;
  return std::max(first, second) / std::min(first, second);
}

TEST(Marks, MarksContrastAtLeast3To1WithBackgrounds) {
  for (const app::Theme* theme : {&app::darkTheme(), &app::lightTheme()})
    for (const std::uint32_t tone : {theme->background, theme->panel, theme->raised}) {
      std::vector<std::uint32_t> marks{theme->query, theme->key,     theme->value,
                                       theme->error, theme->warning, theme->faint};
      marks.insert(marks.end(), theme->groups.begin(), theme->groups.end());
      for (const std::uint32_t mark : marks)
        EXPECT_GE(contrastOf(mark, tone), 3) << std::hex << mark << " on " << tone;
    }
}

/// The checks themselves detect violations.
TEST(PageCheck, DetectsFaintTextMarksAndCutOffControls) {
  UiDriver ui(1280, 720);
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(faintTexts(ui, 30), testing::Not(IsEmpty())) << "no contrast is as large";
  EXPECT_THAT(faintMarks(ui, 30), testing::Not(IsEmpty()));
  // Most of a window that is too small can be scrolled to, but not all.
  ui.resize(300, 200);
  EXPECT_THAT(cutOff(ui, Scrolling::doesnt), testing::Not(IsEmpty()));
  ui.resize(90, 60);
  EXPECT_THAT(cutOff(ui), testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace headscope::test
