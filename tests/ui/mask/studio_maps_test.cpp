// The mask studio's maps: their scales, the difference of two masks, and the names of layers in two masks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/pages/mask/mask_page.h"
#include "app/platform/ui_state.h"
#include "render/colormap.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;
using app::RangeMode;

class Maps : public testing::Test {
 protected:
  Maps() { ui.click("page.mask"); }
  void write(const std::string& expression) {
    ui.replaceText("expression", expression).clickAway().wait(0.5);
  }
  /// Compares the mask with a second one, which is then the mask being edited.
  void compareWith(const std::string& expression) {
    ui.click("studio_view.compare").click("make_other");
    write(expression);
  }
  render::Image picture() {
    ui.park().wait(0.5);
    return ui.screenshot();
  }
  UiDriver& pointAt(const char* map, Index query, Index key) { return ui.hoverAt(map, at(key), at(query)); }
  UiDriver& clickOn(const char* map, Index query, Index key) { return ui.clickAt(map, at(key), at(query)); }
  /// The place of a row's or column's middle across a map.
  static float at(Index token) { return (static_cast<float>(token) + 0.5f) / 12; }
  const app::Cursor& cursor() { return ui.scene().cursor; }
  std::string caption() {
    std::string all;
    for (const app::CaptionPart& part : ui.session().page<app::mask_page::Page>().caption(ui.scene()))
      all += part.text;
    return all;
  }
  /// Whether the frame draws exactly this text.
  bool says(const std::string& text) {
    app::uiState().watches = true;
    picture();
    return std::ranges::any_of(app::uiState().texts,
                               [&](const app::DrawnText& drawn) { return drawn.text == text; });
  }
  /// Whether the frame draws a mark of that name.
  bool marks(const std::string& name) {
    overlaps(ui);
    return std::ranges::any_of(app::uiState().marks,
                               [&](const app::DrawnMark& mark) { return mark.name == name; });
  }
  /// Whether the middle of a cell of a 12 × 12 map has a colour, to within one rounding step per channel.
  bool shows(const render::Image& image, const std::string& map, Index query, Index key,
             const render::Color& color) {
    const ImRect area = ui.find(map);
    const auto middle = [](float from, float size, Index at) {
      return static_cast<int>(from + size * (static_cast<float>(at) + 0.5f) / 12);
    };
    const int x = middle(area.Min.x, area.GetWidth(), key), y = middle(area.Min.y, area.GetHeight(), query);
    const std::uint8_t* pixel = image.rgba.data() + 4 * (static_cast<std::ptrdiff_t>(y) * image.width + x);
    const float expected[] = {color.r, color.g, color.b};
    for (int channel = 0; channel < 3; ++channel)
      if (std::abs(static_cast<float>(pixel[channel]) - 255 * expected[channel]) > 1.5f) return false;
    return true;
  }
  UiDriver ui{1600, 1000};
};

TEST_F(Maps, LegendExplainsTheGreysShown) {
  ui.resize(1280, 720);
  EXPECT_TRUE(says("visible") && says("masked"));
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  ui.click("studio_view.biases");
  EXPECT_FALSE(says("visible")) << "no mask is shown";
  compareWith("causal & window(4)");
  EXPECT_TRUE(says("masked"));
  EXPECT_FALSE(says("visible")) << "these are weights";
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(Maps, ClickingWeightScaleCyclesRange) {
  ASSERT_EQ(ui.scene().look.range, RangeMode::unit);
  // A head that spreads over many keys, so its largest weight is far from 1.
  write("full");
  ui.click("strip.3");
  const ImRect map = ui.find("weights_map");
  const render::Image unit = picture();
  ui.click("weights_map.range");
  EXPECT_EQ(ui.scene().look.range, RangeMode::perHead);
  const render::Image perHead = picture();
  ui.click("weights_map.range");
  EXPECT_EQ(ui.scene().look.range, RangeMode::logarithmic);
  const render::Image logarithmic = picture();
  ui.click("weights_map.range");
  EXPECT_EQ(ui.scene().look.range, RangeMode::unit);
  const auto half = static_cast<int>(map.GetArea() / 2);
  EXPECT_GT(pixelsApart(unit, perHead, map), half);
  EXPECT_GT(pixelsApart(unit, logarithmic, map), half);
  EXPECT_GT(pixelsApart(perHead, logarithmic, map), half);
  EXPECT_EQ(pixelsApart(unit, picture(), map), 0);
}

TEST_F(Maps, RangeOfHeadsPageAppliesToEveryTab) {
  for (const char* range : {"per_head", "shared", "logarithmic", "unit"}) {
    ui.click("page.heads").choose("range", range);
    const RangeMode chosen = ui.scene().look.range;
    ui.click("page.mask").wait(0.5);
    EXPECT_TRUE(ui.has("weights_map.range")) << range;
    ui.click("studio_view.biases").wait(0.5).click("studio_view.compare");
    if (!ui.scene().setup.mask.compare) compareWith("window(3)");
    ui.wait(0.5);
    EXPECT_TRUE(ui.has("a_map.range") && ui.has("b_map.range")) << range;
    ui.click("compare_how.wipe").wait(0.5).click("compare_how.side").click("studio_view.mask");
    EXPECT_EQ(ui.scene().look.range, chosen) << range;
  }
}

TEST_F(Maps, ComparedMasksShareOneScale) {
  write("full");
  ui.click("strip.3");
  compareWith("full");
  const ImRect map = ui.find("a_map");
  const render::Image unit = picture();
  ui.click("b_map.range");
  ASSERT_EQ(ui.scene().look.range, RangeMode::perHead);
  EXPECT_GT(pixelsApart(unit, picture(), map), 0);
  // A token that sees only itself has the weight 1, the largest possible.
  write("window(1)");
  EXPECT_EQ(pixelsApart(unit, picture(), map), 0) << "mask A's map is read on mask B's scale";
  ui.click("a_map.range");
  EXPECT_EQ(ui.scene().look.range, RangeMode::logarithmic);
}

TEST_F(Maps, DifferenceMapShowsMaskDifference) {
  write("causal & !sinks(1)");
  compareWith("!causal | window(1)");
  const render::Image ofWeights = picture();
  ui.click("compare_what.masks");
  const render::Image ofMasks = picture();
  const auto color = [](float t) { return render::sample(render::Colormap::diverging, t); };
  EXPECT_TRUE(shows(ofMasks, "difference_map", 9, 3, color(0))) << "A alone";
  EXPECT_TRUE(shows(ofMasks, "difference_map", 3, 9, color(1))) << "B alone";
  EXPECT_TRUE(shows(ofMasks, "difference_map", 7, 7, color(0.5f))) << "both";
  EXPECT_FALSE(shows(ofMasks, "difference_map", 9, 0, color(0.5f))) << "neither";
  ui.click("compare_what.weights");
  EXPECT_EQ(pixelsApart(ofWeights, picture(), ui.find("difference_map")), 0);
}

TEST_F(Maps, ComparisonWithoutSecondMaskShowsTheFirst) {
  ui.click("studio_view.compare");
  EXPECT_TRUE(ui.has("mask_map") && ui.has("weights_map"));
  EXPECT_FALSE(ui.has("a_map"));
  ui.click("make_other").wait(0.5);
  EXPECT_TRUE(ui.has("a_map") && ui.has("b_map"));
  EXPECT_FALSE(ui.has("make_other"));
}

TEST_F(Maps, StandWhereTheyAreLargest) {
  EXPECT_LT(ui.find("mask_map").Max.x, ui.find("weights_map").Min.x);
  ui.resize(700, 1000);
  ui.wait(0.5);
  EXPECT_LT(ui.find("mask_map").Max.y, ui.find("weights_map").Min.y) << "below, as the window is narrow";
}

TEST_F(Maps, NameBoxFollowsSelectedLayer) {
  write("causal & window(4)");
  const auto rename = [&](const char* name) { ui.replaceText("layer_name", name).key(Key::enter); };
  ui.click("layer.1");
  rename("near");
  compareWith("causal & \"near\": window(2)");
  ui.click("layer.1");
  rename("nearer");
  const auto a = [&] { return attention::maskText(ui.scene().setup.mask.layers); };
  const auto b = [&] { return attention::maskText(ui.scene().setup.mask.other); };
  ASSERT_EQ(b(), "causal & \"nearer\": window(2)");
  ui.click("edits.false").click("layer.1").click("layer_name");
  EXPECT_EQ(ui.mask().renaming, "near");
  ui.key(Key::enter);
  EXPECT_EQ(a(), "causal & \"near\": window(4)") << "looking at a name changes none";
  ui.click("swap_masks").click("layer_name").key(Key::enter);
  EXPECT_EQ(a(), "causal & \"nearer\": window(2)");
  EXPECT_EQ(b(), "causal & \"near\": window(4)");
  rename("far");
  ui.chord(kCtrl, Key::z).click("layer_name").clickAway();
  EXPECT_EQ(a(), "causal & \"nearer\": window(2)") << "what was taken back stays so";
}

TEST_F(Maps, PoolingMatchesDrawnPixels) {
  app::Scene scene = ui.scene();
  scene.setup.input.text = "a b";
  scene.setup.input.cross = true;
  std::string context;
  for (int i = 0; i < 1500; ++i) context += "w ";
  scene.setup.input.contextText = context;
  scene.setup.mask.layers = attention::parseMask("sinks(7)").layers;
  ui.resize(640, 480).show(scene);
  const app::mask_page::State& studio = ui.mask();
  ASSERT_FALSE(studio.study->mask.error) << *studio.study->mask.error;
  Index factor = 1;
  while (static_cast<float>((1500 + factor - 1) / factor) > studio.mapPixels) factor *= 2;
  ASSERT_GE(factor, 4) << "more keys than twice the pixels: " << studio.mapPixels;
  EXPECT_EQ(studio.maskFactor, factor);
}

TEST_F(Maps, HoverPreviewsWhileTheSelectionStays) {
  clickOn("mask_map", 8, 2).park();
  EXPECT_EQ(cursor().cell, (app::Cell{0, 8, 2}));
  EXPECT_TRUE(marks("crosshair"));
  EXPECT_FALSE(marks("ghost"));
  EXPECT_FALSE(ui.has("receipt.selected"));
  const std::string scene = ui.sceneText(), said = caption();
  pointAt("weights_map", 9, 4);
  EXPECT_EQ(ui.view().hover, (app::Crosshair{0, 9, 4}));
  EXPECT_TRUE(marks("crosshair"));
  EXPECT_TRUE(marks("ghost"));
  EXPECT_TRUE(ui.has("receipt.selected")) << "how the hovered key reaches the hovered query";
  EXPECT_EQ(caption(), said);
  EXPECT_EQ(ui.sceneText(), scene);
  ui.park();
  EXPECT_FALSE(ui.has("receipt.selected"));
  EXPECT_FALSE(marks("ghost"));
}

TEST_F(Maps, ClickOnTheSelectedCellLetsItGo) {
  for (const char* map : {"mask_map", "weights_map", "reach_map"}) {
    SCOPED_TRACE(map);
    clickOn(map, 8, 2);
    EXPECT_EQ(cursor().cell, (app::Cell{0, 8, 2}));
    EXPECT_TRUE(cursor().keyChosen);
    clickOn(map, 8, 2);
    EXPECT_FALSE(cursor().keyChosen);
    Index largest = -1;
    ui.sequence().probabilities()[0].row(8).maxCoeff(&largest);
    EXPECT_EQ(cursor().cell, (app::Cell{0, 8, largest}));
  }
}

TEST_F(Maps, ReceiptsOfTheOtherTabsPreviewTheHoveredCell) {
  clickOn("mask_map", 8, 2);
  ui.click("studio_view.biases").click("bias_position.t5").park();
  EXPECT_FALSE(ui.has("receipt.selected"));
  pointAt("bias_map", 9, 4);
  EXPECT_TRUE(ui.has("receipt.selected"));
  ui.click("bias_position.none");
  compareWith("window(3)");
  ui.park();
  EXPECT_FALSE(ui.has("receipt.selected"));
  pointAt("b_map", 9, 4);
  EXPECT_TRUE(ui.has("receipt.selected"));
  EXPECT_EQ(cursor().cell, (app::Cell{0, 8, 2}));
  ui.clickAt("row_profile", at(3), 0.5f);
  EXPECT_EQ(cursor().cell, (app::Cell{0, 3, 2}));
}

TEST_F(Maps, HoveredHeadAndTokenAreDashed) {
  write("packed");
  ui.park();
  EXPECT_FALSE(marks("ghost"));
  ui.hover("strip.2");
  EXPECT_TRUE(marks("ghost"));
  ui.hover("mark.3");
  EXPECT_EQ(ui.view().hover, (app::Crosshair{-1, -1, 3}));
  EXPECT_TRUE(marks("ghost"));
}

// Regression: the title changed to the new head at once, while the picture was still the previous one's.
TEST(StudioMaps, TitleMatchesDrawnHead) {
  UiDriver ui;
  ui.key(static_cast<app::Key>('3'));
  ASSERT_TRUE(ui.has("says.head.0"));
  ui.session().scene().cursor.cell.head = 3;
  ui.frames(1);
  EXPECT_TRUE(ui.has("says.head.0")) << "the picture is still that of head 0";
  ui.draw();
  EXPECT_TRUE(ui.has("says.head.3"));
  EXPECT_EQ(ui.mask().study->question.head, 3);
}

// The memory budget covers the shown picture and the next one, so a hidden page must not hold a third.
TEST(StudioMaps, HiddenPageReleasesSnapshot) {
  UiDriver ui;
  ui.key(static_cast<app::Key>('3')).click("studio_view.biases");
  ASSERT_TRUE(ui.mask().headStudy);
  const std::weak_ptr<const app::Snapshot> seen = ui.mask().snapshot;
  ui.key(static_cast<app::Key>('1'));
  const std::weak_ptr<const app::Snapshot> heads = ui.heads().snapshot;
  ui.dragTo("sharpness", 0.9f);
  EXPECT_TRUE(seen.expired()) << "the studio keeps it";
  ui.key(static_cast<app::Key>('3'));
  EXPECT_TRUE(ui.mask().headStudy) << "asked for anew";
  EXPECT_TRUE(heads.expired());
}

}  // namespace
}  // namespace headscope::test
