// The heatmaps: pointing, focusing, zooming, panning, and the choices for their look.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/platform/ui_state.h"
#include "app/widgets/heatmap_layer.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;

std::size_t uploads(UiDriver& ui) {
  const app::heads_page::State& page = ui.heads();
  return page.pictures.grid.uploads() + page.pictures.focus.uploads() + page.pictures.cache.uploads();
}

std::string head(int index) {
  return "head." + std::to_string(index);
}

TEST(Heads, HoveringACellHighlightsQueryAndKeyInAllHeads) {
  UiDriver ui;
  ui.park();
  EXPECT_EQ(ui.view().hover, app::Crosshair{});
  const render::Image before = ui.screenshot();
  const std::size_t sent = uploads(ui);
  const app::Snapshot* snapshot = ui.session().snapshot();
  // Row 9 and column 3 of the 12 × 12 cells of head 2.
  ui.hoverAt(head(2), 3.5f / 12, 9.5f / 12);
  EXPECT_EQ(ui.view().hover, (app::Crosshair{2, 9, 3}));
  const render::Image after = ui.screenshot();
  for (int i = 0; i < 8; ++i) EXPECT_GT(pixelsApart(before, after, ui.find(head(i))), 20) << "head " << i;
  EXPECT_GT(pixelsApart(before, after, ui.find("bars.q")), 20) << "the receipt follows";
  EXPECT_EQ(uploads(ui), sent);
  EXPECT_EQ(ui.session().snapshot(), snapshot);
  ui.hoverAt(head(6), 0.5f / 12, 11.5f / 12);
  EXPECT_EQ(ui.view().hover, (app::Crosshair{6, 11, 0}));
  ui.park();
  EXPECT_EQ(pixelsApart(before, ui.screenshot()), 0) << "nothing stays behind";
}

TEST(Heads, LegendExplainsMaskedCells) {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
    UiDriver ui(width, height);
    const auto saysMasked = [&] {
      app::uiState().watches = true;
      ui.park().screenshot();
      return std::ranges::any_of(app::uiState().texts,
                                 [](const app::DrawnText& drawn) { return drawn.text == "masked"; });
    };
    EXPECT_TRUE(saysMasked()) << width;
    ui.session().scene().setup.mask.layers = {};
    ui.draw();
    EXPECT_FALSE(saysMasked()) << width << ": no cell is";
  }
}

TEST(Heads, ReceiptListsEveryApplicableTerm) {
  UiDriver ui;
  using Lines = std::vector<std::string>;
  EXPECT_EQ(ui.names("receipt.term."), (Lines{"receipt.term.mask", "receipt.term.scale"}));
  app::Setup& setup = ui.session().scene().setup;
  setup.model.position = app::PositionKind::t5;
  setup.model.sharpness = 2;
  setup.model.softcap = 4;
  setup.mask.additive = attention::Table{{}, attention::Matrix::Constant(12, 12, 0.5F)};
  ui.draw();
  EXPECT_EQ(ui.names("receipt.term."),
            (Lines{"receipt.term.T5", "receipt.term.additive", "receipt.term.mask", "receipt.term.scale",
                   "receipt.term.sharpness", "receipt.term.soft-cap"}));
  setup.model.position = app::PositionKind::alibi;
  ui.draw();
  EXPECT_TRUE(ui.has("receipt.term.ALiBi"));
  EXPECT_FALSE(ui.has("receipt.term.T5"));
}

TEST(Heads, CornerCellsMatchThePointer) {
  UiDriver ui;
  for (const int query : {0, 11})
    for (const int key : {0, 11}) {
      ui.hoverAt(head(5), (static_cast<float>(key) + 0.5f) / 12, (static_cast<float>(query) + 0.5f) / 12);
      EXPECT_EQ(ui.view().hover, (app::Crosshair{5, query, key}));
    }
}

TEST(Heads, ClickFocusesAHeadAndEscapeReturns) {
  UiDriver ui;
  ui.clickAt(head(3), 2.5f / 12, 7.5f / 12);
  EXPECT_EQ(ui.scene().cursor.focus, 3);
  EXPECT_EQ(ui.scene().cursor.cell, (app::Cell{3, 7, 2}));
  EXPECT_TRUE(ui.has("focus"));
  EXPECT_TRUE(ui.names("head.").empty());
  ui.hoverAt("focus", 5.5f / 12, 10.5f / 12);
  EXPECT_EQ(ui.view().hover, (app::Crosshair{3, 10, 5}));
  ui.clickAt("focus", 4.5f / 12, 6.5f / 12);
  EXPECT_EQ(ui.scene().cursor.cell, (app::Cell{3, 6, 4}));
  ui.key(Key::escape);
  EXPECT_EQ(ui.scene().cursor.focus, -1);
  EXPECT_EQ(ui.names("head.").size(), 8u);
  ui.click(head(0)).click("back");
  EXPECT_EQ(ui.scene().cursor.focus, -1);
}

TEST(Heads, PageKeysCycleThroughHeads) {
  UiDriver ui;
  ui.click(head(6)).key(Key::pageDown);
  EXPECT_EQ(ui.scene().cursor.focus, 7);
  ui.key(Key::pageDown);
  EXPECT_EQ(ui.scene().cursor.focus, 0);
  ui.key(Key::pageUp);
  EXPECT_EQ(ui.scene().cursor.focus, 7);
}

TEST(Focus, WheelZoomsAboutThePointer) {
  UiDriver ui;
  ui.click(head(1));
  ASSERT_EQ(ui.heads().camera, app::Camera{});
  ui.hoverAt("focus", 0.8f, 0.3f);
  const app::Crosshair under = ui.view().hover;
  const render::Image before = ui.screenshot();
  ui.wheelAt("focus", 0.8f, 0.3f, 4);
  EXPECT_NEAR(ui.heads().camera.zoom, std::pow(1.2f, 4), 1e-5f);
  EXPECT_EQ(ui.view().hover, under) << "the cell under the pointer stays there";
  EXPECT_GT(pixelsApart(before, ui.screenshot(), ui.find("focus")), 1000);
  ui.wheelAt("focus", 0.8f, 0.3f, -20);
  EXPECT_EQ(ui.heads().camera, app::Camera{}) << "all the way out is the whole head again";
  ui.wheelAt("focus", 0.5f, 0.5f, 60);
  EXPECT_LE(ui.heads().camera.zoom, 6) << "two of twelve cells across at the closest";
}

TEST(Focus, DraggingPansWithoutSelecting) {
  UiDriver ui;
  ui.click(head(1)).wheelAt("focus", 0.5f, 0.5f, 5);
  const app::Camera before = ui.heads().camera;
  const Scene scene = ui.scene();
  ui.hoverAt("focus", 0.6f, 0.6f);
  const app::Crosshair grabbed = ui.view().hover;
  ui.dragAcross("focus", ImVec2(0.6f, 0.6f), ImVec2(0.4f, 0.5f));
  EXPECT_GT(ui.heads().camera.col, before.col);
  EXPECT_GT(ui.heads().camera.row, before.row);
  EXPECT_EQ(ui.heads().camera.zoom, before.zoom);
  EXPECT_EQ(ui.view().hover, grabbed) << "the cell that was grabbed is still under the pointer";
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(scene));
  ui.dragAcross("focus", ImVec2(0.1f, 0.1f), ImVec2(3, 3));
  EXPECT_EQ(ui.heads().camera.row, 0);
  EXPECT_EQ(ui.heads().camera.col, 0);
}

TEST(Focus, SwitchingHeadsKeepsTheSnapshot) {
  UiDriver ui;
  const app::Snapshot* snapshot = ui.session().snapshot();
  ui.click(head(4)).key(Key::pageDown).key(Key::escape);
  EXPECT_EQ(ui.session().snapshot(), snapshot);
}

/// Expects the heatmaps' pixels to change while their numbers and textures stay the same.
void expectRepainted(UiDriver& ui, const std::string& list, const std::string& choice,
                     bool sendsTheOtherMatrix = false) {
  ui.park();
  const render::Image before = ui.screenshot();
  const std::size_t sent = uploads(ui);
  const app::Snapshot* snapshot = ui.session().snapshot();
  ui.choose(list, choice).park();
  EXPECT_GT(pixelsApart(before, ui.screenshot(), ui.find(head(3))), 200) << list << " " << choice;
  EXPECT_EQ(ui.session().snapshot(), snapshot) << list << " " << choice << " computed something";
  if (sendsTheOtherMatrix) return;
  EXPECT_EQ(uploads(ui), sent) << list << " " << choice << " sent something";
}

TEST(Look, ColormapsAndRangesRepaintWithoutComputingOrUploading) {
  UiDriver ui;
  ui.click("causal");  // with it, every first row has a weight of 1, and all linear ranges are the same
  expectRepainted(ui, "colormap", "magma");
  expectRepainted(ui, "colormap", "greys");
  expectRepainted(ui, "colormap", "viridis");
  expectRepainted(ui, "range", "logarithmic");
  expectRepainted(ui, "range", "per_head");
  expectRepainted(ui, "range", "unit");
  // Scores are another matrix: uploaded to the textures, but not computed again.
  expectRepainted(ui, "quantity", "scores", true);
  expectRepainted(ui, "colormap", "cividis");
  expectRepainted(ui, "range", "per_head");
  expectRepainted(ui, "quantity", "weights", true);
}

TEST(Look, ThemeRepaintsWithoutComputingOrUploading) {
  UiDriver ui;
  const render::Image dark = ui.screenshot();
  const std::size_t sent = uploads(ui);
  const app::Snapshot* snapshot = ui.session().snapshot();
  ui.chord(kCtrl, Key::l);
  EXPECT_GT(pixelsApart(dark, ui.screenshot()), 1600 * 900 / 4);
  EXPECT_EQ(ui.session().snapshot(), snapshot);
  EXPECT_EQ(uploads(ui), sent);
}

TEST(Look, UploadsOnlyChangedHeads) {
  UiDriver ui;
  const std::size_t sent = ui.heads().pictures.grid.uploads();
  // Heads 4 to 7 read the other kv head, and their keys don't change.
  ui.choose("plant.3", "first_token");
  const std::size_t after = ui.heads().pictures.grid.uploads() - sent;
  EXPECT_GE(after, 1u);
  EXPECT_LE(after, 4u);
}

TEST(Receipt, LargestWeightsCanBeSelected) {
  UiDriver ui;
  const app::Index before = ui.scene().cursor.cell.key;
  ui.click("top.1");
  const app::Cell cell = ui.scene().cursor.cell;
  const auto weights = ui.sequence().attention.weights[cell.head];
  int larger = 0;
  for (app::Index key = 0; key < weights.cols(); ++key)
    larger += weights(cell.query, key) > weights(cell.query, cell.key) + 2e-5f;  // more than rounding
  EXPECT_LE(larger, 1);
  EXPECT_NE(cell.key, before) << "the opening scene's choice was another one";
}

TEST(Receipt, HoveringALargestWeightHighlightsItsCell) {
  UiDriver ui;
  ui.hover("top.0");
  EXPECT_EQ(ui.view().hover.head, ui.scene().cursor.cell.head);
  EXPECT_EQ(ui.view().hover.query, ui.scene().cursor.cell.query);
  EXPECT_GE(ui.view().hover.key, 0);
}

TEST(HeadsPanel, SectionsBelowTheSlidersAreFolded) {
  UiDriver ui(1280, 720);
  app::uiState().unfolds = false;
  app::uiState().watches = true;
  ui.frames(2);
  EXPECT_TRUE(ui.has("fold.WEIGHTS"));
  EXPECT_FALSE(ui.has("weights.random"));
  EXPECT_TRUE(ui.says(fmt::format("seed {}", ui.scene().setup.weights.seed))) << "its title has the value";
  ui.click("fold.WEIGHTS");
  EXPECT_TRUE(ui.has("weights.random"));
  ui.click("weights.random");
  EXPECT_EQ(ui.scene().setup.weights.source, app::WeightSource::random);
  ui.click("fold.WEIGHTS");
  EXPECT_FALSE(ui.has("weights.random"));
  ui.view().reveal = {"dropout", "Dropout"};
  ui.frames(6);
  EXPECT_TRUE(ui.has("dropout")) << "Search opens what it leads to";
}

}  // namespace
}  // namespace headscope::test
