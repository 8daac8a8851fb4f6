// The map page: one head at any length, panned and zoomed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/pages/map/map_page.h"
#include "app/platform/ui_state.h"
#include "attention/formats/safetensors.h"
#include "tests/support/page_check.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::MapSource;
using attention::Index;

class MapOnScreen : public testing::Test {
 protected:
  MapOnScreen() { ui.key(static_cast<Key>('4')); }
  /// Generates a text long enough to have levels and short enough to be quick.
  void generate(Index tokens = 1536) {
    ui.session().scene().map.source = MapSource::generated;
    ui.session().scene().map.tokens = tokens;
    ui.draw();
  }
  const app::map_page::State& page() { return ui.map(); }
  const app::MapCursor& cursor() { return ui.scene().cursor.map; }
  const app::map_page::MapWindow& window() { return *page().window; }
  /// Whether the frame draws a mark of that name.
  bool marks(const std::string& name) {
    overlaps(ui);
    return std::ranges::any_of(app::uiState().marks,
                               [&](const app::DrawnMark& mark) { return mark.name == name; });
  }

  UiDriver ui;
};

TEST_F(MapOnScreen, OpensByKeyAndTab) {
  EXPECT_EQ(ui.scene().cursor.page, "map");
  EXPECT_TRUE(ui.has("map"));
  EXPECT_EQ(page().state->queries, 12);
  ui.key(static_cast<Key>('1'));
  EXPECT_FALSE(ui.has("map"));
  ui.click("page.map");
  EXPECT_TRUE(ui.has("map.cells"));
}

/// A screen pixel covers at least as many cells as a pixel of the picture, so edges have steps of one pixel.
TEST_F(MapOnScreen, DrawsWholeHeadAtScreenResolutionOrFiner) {
  generate(4096);
  EXPECT_LE(static_cast<double>(app::map_page::factorOf(page().level)), window().cellsPerPixel);
  EXPECT_GT(static_cast<double>(2 * app::map_page::factorOf(page().level)), window().cellsPerPixel);
  EXPECT_FALSE(page().coarser);
}

/// On a screen with more pixels than the overview, the finer tiles are computed once the overview is exact.
TEST_F(MapOnScreen, LargeWindowsAreExactToOnePixel) {
  ui.resize(3840, 2160);
  generate(4096);
  ASSERT_LT(window().cellsPerPixel, static_cast<double>(app::map_page::factorOf(page().state->levels.finest)))
      << "the overview is coarser than the screen";
  EXPECT_LE(static_cast<double>(app::map_page::factorOf(page().level)), window().cellsPerPixel);
  EXPECT_FALSE(page().coarser);
  EXPECT_FALSE(page().preview);
  // Along the causal edge, each row of the screen reaches as far as its cells, to within a pixel.
  const render::Image image = ui.screenshot();
  const ImRect cells = window().cells();
  const auto at = [&](float x, float y) {
    const auto pixel =
        static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x);
    return std::array{image.rgba[4 * pixel], image.rgba[4 * pixel + 1], image.rgba[4 * pixel + 2]};
  };
  const auto masked = at(cells.Max.x - 3, cells.Min.y + 40);
  int wrong = 0, looked = 0;
  for (float y = cells.Min.y + 200; y < cells.Max.y - 200; y += 7, ++looked) {
    const float edge = window().x(window().rowAt(y + 0.5f));
    wrong += at(edge + 2.5f, y) != masked || at(edge - 2.5f, y) == masked;
  }
  EXPECT_GT(looked, 100);
  EXPECT_EQ(wrong, 0);
}

TEST_F(MapOnScreen, ShowsGeneratedTextAndUndoRestoresTheScene) {
  ui.session().scene().map.tokens = 512;
  ui.click("map.source.generated").typeValue("map.tokens", "1300");
  EXPECT_EQ(ui.scene().map.tokens, 1300);
  EXPECT_EQ(page().state->keys, 1300);
  while (ui.scene().map.source != MapSource::scene && ui.session().document().canUndo())
    ui.chord(kCtrl, Key::z);
  ui.draw();
  EXPECT_EQ(ui.scene().map.source, MapSource::scene);
  EXPECT_EQ(page().state->keys, 12);
}

// Regression: the picture of one head was shown under the name of another until the new picture arrived.
TEST_F(MapOnScreen, TitleNamesTheShownHead) {
  generate();
  EXPECT_TRUE(ui.has("map.title.0"));
  ui.session().scene().cursor.cell.head = 2;
  ui.frames(1);
  EXPECT_TRUE(ui.has("map.title.0"));
  EXPECT_FALSE(ui.has("map.title.2"));
  ui.draw();
  EXPECT_TRUE(ui.has("map.title.2"));
}

TEST_F(MapOnScreen, RefusesLengthBeyondTheLimit) {
  ui.session().scene().map.tokens = 512;
  ui.click("map.source.generated").typeValue("map.tokens", "300");
  ui.typeValue("map.tokens", "131073");
  EXPECT_EQ(ui.scene().map.tokens, 300);
  EXPECT_THAT(ui.view().controls.refusal.reason, testing::HasSubstr("131,073"));
}

TEST_F(MapOnScreen, WheelZoomsAboutThePointer) {
  generate();
  EXPECT_EQ(cursor().cellsPerPixel, 0) << "the whole head";
  EXPECT_EQ(page().level, 1);
  ui.wheelAt("map", 0.5f, 0.5f, 6);
  EXPECT_GT(cursor().cellsPerPixel, 0);
  EXPECT_EQ(page().level, 0);
  // Now that the map fills the window, the cell under the pointer stays in place.
  const ImRect map = ui.find("map");
  const ImVec2 at(map.Min.x + map.GetWidth() * 0.3f, map.Min.y + map.GetHeight() * 0.7f);
  const double row = window().rowAt(at.y), col = window().colAt(at.x), zoom = window().cellsPerPixel;
  ui.wheelAt("map", 0.3f, 0.7f, 5);
  EXPECT_LT(window().cellsPerPixel, zoom / 2);
  EXPECT_NEAR(window().rowAt(at.y), row, zoom);  // the pointer moves in whole pixels
  EXPECT_NEAR(window().colAt(at.x), col, zoom);
  ui.wheelAt("map", 0.5f, 0.5f, -40);
  EXPECT_EQ(cursor().cellsPerPixel, 0) << "the whole head again";
}

TEST_F(MapOnScreen, DragPansAndClickMarksACell) {
  generate();
  ui.wheelAt("map", 0.5f, 0.5f, 8);
  const double row = cursor().row, col = cursor().col, zoom = window().cellsPerPixel;
  ui.dragAcross("map", {0.5f, 0.5f}, {0.6f, 0.4f});
  const ImRect map = ui.find("map");
  EXPECT_NEAR(cursor().col, col - 0.1 * map.GetWidth() * zoom, 2 * zoom);
  EXPECT_NEAR(cursor().row, row + 0.1 * map.GetHeight() * zoom, 2 * zoom);
  EXPECT_EQ(cursor().query, -1) << "a drag marks nothing";
  ui.clickAt("map", 0.25f, 0.75f);
  EXPECT_EQ(cursor().query, static_cast<Index>(window().rowAt(map.Min.y + map.GetHeight() * 0.75f)));
  EXPECT_EQ(cursor().key, static_cast<Index>(window().colAt(map.Min.x + map.GetWidth() * 0.25f)));
}

TEST_F(MapOnScreen, HoverMarksNothingAndClickOnTheMarkedCellLetsItGo) {
  generate();
  ui.wheelAt("map", 0.5f, 0.5f, 8).hoverAt("map", 0.25f, 0.75f);
  const ImRect map = ui.find("map");
  const auto row = static_cast<Index>(window().rowAt(map.Min.y + map.GetHeight() * 0.75f));
  EXPECT_EQ(ui.view().hover.query, row);
  EXPECT_EQ(cursor().query, -1);
  EXPECT_TRUE(marks("ghost"));
  EXPECT_FALSE(marks("crosshair"));
  ui.clickAt("map", 0.25f, 0.75f).hoverAt("map", 0.6f, 0.3f);
  EXPECT_EQ(cursor().query, row);
  EXPECT_TRUE(marks("ghost"));
  EXPECT_TRUE(marks("crosshair"));
  ui.clickAt("map", 0.25f, 0.75f).park();
  EXPECT_EQ(cursor().query, -1);
  EXPECT_EQ(cursor().key, -1);
  EXPECT_FALSE(marks("ghost"));
}

TEST_F(MapOnScreen, KeysMoveAndZoom) {
  generate();
  ui.hover("map").key(Key::equal, {.shift = true}).key(Key::equal).key(Key::equal);
  const double zoom = cursor().cellsPerPixel, col = cursor().col, row = cursor().row;
  EXPECT_GT(zoom, 0);
  ui.key(Key::right).key(Key::down);
  EXPECT_GT(cursor().col, col);
  EXPECT_GT(cursor().row, row);
  ui.key(Key::left).key(Key::up);
  EXPECT_NEAR(cursor().col, col, 1e-6);
  ui.key(Key::minus);
  EXPECT_GT(window().cellsPerPixel, zoom);
  ui.key(Key::home);
  EXPECT_EQ(cursor().cellsPerPixel, 0);
}

TEST_F(MapOnScreen, GoToAcceptsNumbersAndWords) {
  generate();
  ui.replaceText("map.go_to", "1200, 700\n");
  EXPECT_EQ(cursor().query, 1200);
  EXPECT_EQ(cursor().key, 700);
  EXPECT_NEAR(window().rowAt(window().area.GetCenter().y), 1200.5, 1);
  EXPECT_EQ(page().level, 0) << "close enough to read";
  const auto& tokens = page().state->text->queries;
  ui.replaceText("map.go_to", "the\n");
  const Index first = cursor().query;
  EXPECT_EQ(cursor().key, first) << "one word is a place on the diagonal";
  EXPECT_THAT(tokens[static_cast<std::size_t>(first)].text, testing::AnyOf(testing::HasSubstr("the"), "The"));
  ui.key(Key::enter);
  EXPECT_NE(cursor().query, first) << "Enter goes on";
  ui.replaceText("map.go_to", "5, xylophone\n");
  EXPECT_TRUE(ui.has("map.go_to.problem"));
  ui.replaceText("map.go_to", "9999\n");
  EXPECT_THAT(page().goToProblem, testing::HasSubstr("1,535"));
}

TEST_F(MapOnScreen, MinimapMovesTheView) {
  generate();
  ui.wheelAt("map", 0.5f, 0.5f, 10).clickAt("minimap", 0.8f, 0.9f);
  EXPECT_NEAR(cursor().col, 0.8 * 1536, 20);
  EXPECT_NEAR(cursor().row, 0.9 * 1536, 20);
  ui.dragAcross("minimap", {0.8f, 0.9f}, {0.2f, 0.4f});
  EXPECT_NEAR(cursor().col, 0.2 * 1536, 20);
}

TEST_F(MapOnScreen, PoolingRepaintsAndRangeUploadsNothing) {
  generate();
  ui.park();
  const render::Image max = ui.screenshot();
  ui.click("map.pooling.mean").park();
  EXPECT_EQ(ui.scene().map.pooling, attention::Pooling::mean);
  EXPECT_GT(pixelsApart(max, ui.screenshot(), ui.find("map.cells")), 1000);
  const std::uint64_t uploads = page().textures->uploads();
  ui.choose("map.range", "logarithmic").park();
  EXPECT_EQ(page().textures->uploads(), uploads) << "a range is a uniform";
}

/// Until they are chosen on the map, range and colours are those of the other pages, also in older scenes.
TEST_F(MapOnScreen, RangeAndColoursOfTheMapLeaveOtherPagesAlone) {
  const app::Look before = ui.scene().look;
  ui.session().scene().look.colormap = render::Colormap::blues;
  EXPECT_EQ(app::map_page::mapLook(ui.scene()).colormap, render::Colormap::blues);
  ui.session().scene().look = before;
  generate();
  ui.choose("map.range", "logarithmic").choose("colormap", "magma").park();
  EXPECT_EQ(ui.scene().look, before);
  const app::Look own = app::map_page::mapLook(ui.scene());
  EXPECT_EQ(own.range, app::RangeMode::logarithmic);
  EXPECT_EQ(own.colormap, render::Colormap::magma);
  // A long text makes only the map logarithmic.
  ui.choose("map.range", "unit").click("map.source.scene").click("map.source.generated");
  EXPECT_EQ(app::map_page::mapLook(ui.scene()).range, app::RangeMode::logarithmic);
  EXPECT_EQ(ui.scene().look, before);
  ui.key(static_cast<Key>('1')).choose("colormap", "greys");
  EXPECT_EQ(app::map_page::mapLook(ui.scene()).colormap, render::Colormap::magma);
}

TEST_F(MapOnScreen, SelectingAHeadChangesTheMap) {
  generate();
  const std::uint64_t field = page().state->field;
  ui.click("map.head.3");
  EXPECT_EQ(ui.scene().cursor.cell.head, 3);
  EXPECT_NE(page().state->field, field);
  ui.key(Key::pageDown);
  EXPECT_EQ(page().state->question.head, 4);
}

TEST_F(MapOnScreen, UploadsOnlyNewTiles) {
  generate();
  ui.wheelAt("map", 0.5f, 0.5f, 6).park();
  const std::size_t before = page().textures->uploads();
  ui.draw();
  EXPECT_EQ(page().textures->uploads(), before);
  EXPECT_LE(page().textures->bytes(), app::map_page::Textures::kBudget);
  EXPECT_LE(page().cache->peakBytes(), page().cache->budget());
}

TEST_F(MapOnScreen, SleepsWhenNothingMoves) {
  generate();
  ui.park().wait(1);
  EXPECT_TRUE(std::isinf(ui.session().nextFrameIn()));
}

TEST_F(MapOnScreen, ShowsErrorsInPlaceAndRecovers) {
  ui.replaceText("map.text", "");
  EXPECT_TRUE(page().state->empty);
  EXPECT_FALSE(ui.has("map.cells"));
  ui.session().scene().setup.model.modelDim = 8;
  ui.session().scene().setup.model.linked = false;
  ui.replaceText("map.text", "two words");
  ASSERT_TRUE(page().state->error);
  ui.session().scene().setup.model.modelDim = 256;
  ui.draw();
  EXPECT_FALSE(page().state->error);
  EXPECT_EQ(page().state->queries, 2);
}

TEST_F(MapOnScreen, MapsADroppedFile) {
  const TemporaryFolder folder;
  attention::SafetensorsFile file;
  for (const char* layer : {"layers.0", "layers.1"}) {
    file.tensors[std::string(layer) + ".q"] = gaussianTensor({12, 40, 8}, 1);
    file.tensors[std::string(layer) + ".k"] = gaussianTensor({3, 40, 8}, 2);
  }
  const auto path = folder / "QK.safetensors";
  ASSERT_TRUE(attention::writeSafetensors(path, file).ok());
  ui.drop({path.string()});
  EXPECT_EQ(ui.scene().map.source, MapSource::file);
  ASSERT_FALSE(page().state->error) << *page().state->error;
  EXPECT_EQ(page().state->queries, 40);
  ui.click("map.head.11").dragTo("map.layer", 1.1f);
  EXPECT_EQ(page().state->question.head, 11) << "more heads than the model of the scene has";
  EXPECT_EQ(page().state->question.layer, 1);
  ui.drop({(folder / "gone.safetensors").string()});
  EXPECT_TRUE(page().state->error);
  ui.click("map.source.scene");
  EXPECT_FALSE(page().state->error);
  EXPECT_EQ(ui.scene().cursor.cell.head, 7) << "the scene has no more";
}

TEST_F(MapOnScreen, MapsTextTooLongForTheHeadsPage) {
  std::string text;
  for (int i = 0; i < 2500; ++i) text += i % 7 == 0 ? "fox " : "word ";
  ui.session().scene().setup.input.text = text;
  ui.draw();
  EXPECT_FALSE(page().state->error);
  EXPECT_EQ(page().state->queries, 2500);
  ui.key(static_cast<Key>('1'));
  ASSERT_TRUE(ui.snapshot().error);
  EXPECT_THAT(ui.snapshot().error->message, testing::HasSubstr("View it on Map"));
}

}  // namespace
}  // namespace headscope::test
