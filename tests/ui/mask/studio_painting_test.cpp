// Painting masks and biases, and comparing two masks, with the pointer.

#include <gtest/gtest.h>

#include "app/pages/mask/mask_page.h"
#include "tests/support/compare_image.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;

class Painting : public testing::Test {
 protected:
  Painting() { ui.click("page.mask"); }
  static ImVec2 cell(Index query, Index key) {
    return {(static_cast<float>(key) + 0.5f) / 12, (static_cast<float>(query) + 0.5f) / 12};
  }
  void stroke(Index fromQuery, Index fromKey, Index toQuery, Index toKey) {
    ui.dragAcross("mask_map", cell(fromQuery, fromKey), cell(toQuery, toKey));
  }
  bool visible(Index query, Index key) {
    ui.draw();
    const app::StudiedMask& mask = ui.mask().study->mask;
    return mask.formula->visible(mask.variant, query, key);
  }
  const app::MaskSetup& setup() { return ui.scene().setup.mask; }
  UiDriver ui{1600, 1000};
};

TEST_F(Painting, BrushMasksShowsAndErases) {
  ui.click("tool.brush").click("paints.masked");
  stroke(8, 2, 8, 6);
  EXPECT_EQ(attention::maskText(setup().layers), "causal & padding then painted(\"painting 1\")");
  for (Index key = 2; key <= 6; ++key) EXPECT_FALSE(visible(8, key)) << key;
  EXPECT_TRUE(visible(8, 1));
  EXPECT_TRUE(visible(8, 7));
  ui.click("paints.visible");
  stroke(3, 6, 3, 8);
  EXPECT_TRUE(visible(3, 7)) << "what is painted decides over the causal layer";
  EXPECT_EQ(setup().paintings.size(), 1u);
  ui.click("paints.erase");
  stroke(3, 6, 8, 6);
  EXPECT_FALSE(visible(3, 6));
  EXPECT_TRUE(visible(8, 6));
  EXPECT_FALSE(visible(8, 5));
}

TEST_F(Painting, StrokeIsOneUndoStep) {
  ui.click("tool.brush");
  stroke(8, 0, 8, 7);
  stroke(9, 0, 9, 7);
  EXPECT_FALSE(visible(9, 3));
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(visible(9, 3));
  EXPECT_FALSE(visible(8, 3));
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(visible(8, 3));
  EXPECT_TRUE(setup().paintings.empty()) << "and the layer that the first stroke made is gone";
  ui.chord(kCtrlShift, Key::z);
  EXPECT_FALSE(visible(8, 3));
}

TEST_F(Painting, PaintsRectanglesColumnsAndDiagonals) {
  ui.click("tool.rectangle");
  stroke(6, 1, 8, 3);
  for (Index query = 6; query <= 8; ++query)
    for (Index key = 1; key <= 3; ++key) EXPECT_FALSE(visible(query, key));
  EXPECT_TRUE(visible(9, 2));
  ui.click("tool.column");
  stroke(2, 0, 5, 0);
  for (Index query = 0; query < 12; ++query) EXPECT_FALSE(visible(query, 0));
  ui.click("tool.diagonal").click("paints.visible");
  stroke(4, 5, 4, 5);
  for (Index query = 0; query < 11; ++query) EXPECT_TRUE(visible(query, query + 1));
  EXPECT_FALSE(visible(4, 6));
}

TEST_F(Painting, MirrorPaintsBothSidesOfTheDiagonal) {
  ui.click("tool.brush").click("paints.visible").click("mirror");
  stroke(2, 9, 2, 10);
  EXPECT_TRUE(visible(2, 9));
  EXPECT_TRUE(visible(9, 2));
  ui.click("paints.masked");
  stroke(2, 9, 2, 10);
  EXPECT_FALSE(visible(2, 9));
  EXPECT_FALSE(visible(9, 2));
}

TEST_F(Painting, XTogglesSelectedCell) {
  ui.clickAt("mask_map", cell(5, 2).x, cell(5, 2).y).key(Key::x);
  EXPECT_FALSE(visible(5, 2));
  EXPECT_TRUE(visible(5, 3));
  ui.hoverAt("mask_map", cell(8, 1).x, cell(8, 1).y).key(Key::x);
  EXPECT_TRUE(visible(5, 2));
  EXPECT_TRUE(visible(8, 1)) << "it is only hovered";
  ui.clickAt("mask_map", cell(1, 9).x, cell(1, 9).y).key(Key::x);
  EXPECT_TRUE(visible(1, 9));
  ui.chord(kCtrl, Key::z);
  EXPECT_FALSE(visible(1, 9));
}

/// Masked, the key with the row's largest weight has no weight: the selection must not move on to another
/// key.
TEST_F(Painting, XTogglesOneCellBackAndForthAlsoIfNobodyChoseIt) {
  const app::Cell selected = ui.scene().cursor.cell;
  ASSERT_FALSE(ui.scene().cursor.keyChosen);
  ui.key(Key::x);
  EXPECT_FALSE(visible(selected.query, selected.key));
  EXPECT_EQ(ui.scene().cursor.cell, selected);
  ui.key(Key::x);
  EXPECT_TRUE(visible(selected.query, selected.key));
}

TEST_F(Painting, PaintedCellIsSelectedAndStaysSo) {
  ui.click("tool.brush");
  for (int i = 0; i < 2; ++i) {
    ui.clickAt("mask_map", cell(8, 2).x, cell(8, 2).y);
    EXPECT_EQ(ui.scene().cursor.cell, (app::Cell{0, 8, 2}));
    EXPECT_TRUE(ui.scene().cursor.keyChosen);
  }
}

TEST_F(Painting, ReportsEmptyRowWithZeroWeights) {
  ui.click("tool.row");
  stroke(4, 2, 4, 2);
  ui.wait(0.5);
  EXPECT_EQ(ui.mask().study->mask.statistics.emptyRows, 1);
  EXPECT_EQ(ui.mask().study->mask.statistics.firstEmptyRows, (std::vector<Index>{4}));
  EXPECT_EQ(ui.sequence().attention.weights[0].row(4).sum(), 0);
  EXPECT_TRUE(ui.sequence().attention.output.allFinite());
}

TEST_F(Painting, DraggingWithoutToolDoesNotPaint) {
  const app::Setup before = ui.scene().setup;
  stroke(3, 1, 8, 6);
  EXPECT_EQ(ui.scene().setup, before);
}

TEST_F(Painting, PaintedBiasesChangeScores) {
  ui.click("studio_view.biases");
  EXPECT_FALSE(ui.has("effect_map")) << "nothing is added yet";
  ui.click("tool.brush").dragAcross("bias_map", cell(7, 2), cell(7, 2));
  EXPECT_EQ(setup().additive->values(7, 2), 2);
  EXPECT_EQ(setup().additive->values(7, 3), 0);
  ASSERT_TRUE(ui.has("effect_map"));
  const app::HeadStudy& study = *ui.mask().headStudy;
  EXPECT_FLOAT_EQ(study.bias.values(7, 2), 2);
  EXPECT_GT(study.effect.values(7, 2), 0);
  EXPECT_LT(study.effect.values(7, 6), 0) << "what it draws to itself it takes from the others";
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(setup().additive->values.size(), 0);
  ui.click("bias_position.t5");
  EXPECT_TRUE(ui.snapshot().config.t5.has_value());
  ui.click("bias_position.alibi");
  EXPECT_TRUE(ui.snapshot().config.alibi);
}

TEST_F(Painting, ComparesTwoMasks) {
  ui.click("studio_view.compare");
  EXPECT_FALSE(ui.has("a_map"));
  ui.click("make_other");
  ASSERT_TRUE(ui.has("a_map"));
  ASSERT_TRUE(ui.has("difference_map"));
  EXPECT_EQ(setup().other, setup().layers);
  EXPECT_EQ(ui.sequence().other->comparison.movedMass.maxCoeff(), 0);
  ui.replaceText("expression", "window(1)").clickAway().wait(0.5);
  EXPECT_EQ(attention::maskText(setup().other), "window(1)");
  EXPECT_EQ(attention::maskText(setup().layers), "causal & padding") << "the first mask stays";
  // Head 3 gives every key 1/(i+1); all but the token's own share moves to the token itself.
  EXPECT_NEAR(ui.sequence().other->comparison.movedMass(3, 9), 0.9f, 1e-3f);
  const ImRect a = ui.find("a_map");
  ui.hoverAt("b_map", cell(9, 4).x, cell(9, 4).y);
  EXPECT_EQ(ui.view().hover.query, 9);
  EXPECT_EQ(ui.view().hover.key, 4);
  const render::Image lit = ui.screenshot();
  ui.park();
  EXPECT_GT(pixelsApart(lit, ui.screenshot(), a), 20) << "one crosshair for all";
}

TEST_F(Painting, WipeRevealsOtherMask) {
  ui.click("studio_view.compare").click("make_other").replaceText("expression", "full");
  ui.clickAway().click("compare_how.wipe").click("compare_what.masks").wait(0.5);
  ui.dragAcross("wipe", ImVec2(0.5f, 0.3f), ImVec2(-30, 0.3f));
  EXPECT_EQ(ui.scene().cursor.studio.wipe, 0);
  ui.park();
  const render::Image b = ui.screenshot();
  ui.dragAcross("wipe", ImVec2(0.5f, 0.3f), ImVec2(60, 0.3f));
  EXPECT_EQ(ui.scene().cursor.studio.wipe, 1);
  ui.park();
  EXPECT_GT(pixelsApart(b, ui.screenshot(), ui.find("a_map")), 2000);
}

/// Drops a mask file on the studio, up to the question what its numbers mean.
void dropMask(UiDriver& ui, const TemporaryFolder& folder, const std::string& rows) {
  putFile(folder / "mask.csv", rows);
  ui.drop({(folder / "mask.csv").string()});
}

/// 12 rows of 12 numbers: `low` at and below the diagonal, `high` above it.
std::string triangle(const std::string& low, const std::string& high) {
  std::string text;
  for (int row = 0; row < 12; ++row)
    for (int key = 0; key < 12; ++key) text += (key <= row ? low : high) + (key < 11 ? "," : "\n");
  return text;
}

TEST_F(Painting, DroppedMaskAsksForConvention) {
  const TemporaryFolder folder;
  dropMask(ui, folder, triangle("1", "0"));
  ASSERT_TRUE(ui.has("convention.visible"));
  const app::Setup before = ui.scene().setup;
  ui.click("convention.masked");
  ASSERT_EQ(setup().layers.size(), 3u);
  EXPECT_EQ(setup().layers->back().pattern.arguments.at(1)->text, "masked");
  EXPECT_FALSE(visible(5, 3));
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup, before);
}

TEST_F(Painting, AdditiveFileSetsMaskAndBias) {
  const TemporaryFolder folder;
  dropMask(ui, folder, triangle("0.5", "-inf"));
  ui.click("convention.additive");
  EXPECT_EQ(setup().layers->back().pattern.kind, attention::PatternKind::file);
  EXPECT_EQ(setup().additive->values(5, 3), 0.5f);
  EXPECT_TRUE(visible(5, 3));
  EXPECT_FALSE(ui.snapshot().error);
}

TEST_F(Painting, SavesMaskInChosenConvention) {
  const TemporaryFolder folder;
  for (const auto& [choice, convention] : {std::pair{"visible", attention::MaskConvention::visible},
                                           std::pair{"masked", attention::MaskConvention::masked},
                                           std::pair{"additive", attention::MaskConvention::additive}})
    for (const char* ending : {".npy", ".csv", ".safetensors"}) {
      ui.choose("save_convention", choice).click("save_mask");
      const std::filesystem::path path = folder / (std::string(choice) + ending);
      ui.replaceText("files.path", path.string()).key(Key::enter);
      EXPECT_NE(ui.view().messages.notice.find(path.filename().string()), std::string::npos)
          << ui.view().messages.error;
      const auto file = attention::readMaskFile(path, convention);
      ASSERT_TRUE(file) << file.error().message;
      for (Index row = 0; row < 12; ++row)
        EXPECT_EQ(file->cells->rows[static_cast<std::size_t>(row)]->visible,
                  (attention::KeyRuns{{0, row + 1}}));
    }
  ui.click("save_mask").replaceText("files.path", (folder / "mask.png").string());
  ui.key(Key::enter);
  const render::Image image = decodePng(fileBytes(folder / "mask.png"));
  EXPECT_EQ(image.width, 12);
  EXPECT_EQ(image.height, 12);
  EXPECT_GT(image.rgba[0], image.rgba[4]) << "the first query sees itself and not the next";
}

TEST_F(Painting, RefusesFileThatIsNotAMask) {
  const TemporaryFolder folder;
  const app::Setup before = ui.scene().setup;
  dropMask(ui, folder, "1,maybe\n");
  EXPECT_FALSE(ui.has("convention.visible"));
  EXPECT_NE(ui.view().messages.error.find("mask.csv"), std::string::npos) << ui.view().messages.error;
  EXPECT_EQ(ui.scene().setup, before);
}

TEST_F(Painting, SecondMaskCanBeSwappedAndRemoved) {
  ui.click("studio_view.compare").click("make_other").replaceText("expression", "window(1)");
  ui.clickAway().click("swap_masks");
  EXPECT_EQ(attention::maskText(setup().layers), "window(1)");
  EXPECT_EQ(attention::maskText(setup().other), "causal & padding");
  ui.click("drop_other");
  EXPECT_FALSE(setup().compare);
  ui.draw();
  EXPECT_FALSE(ui.sequence().other);
  EXPECT_TRUE(ui.has("make_other"));
}

}  // namespace
}  // namespace headscope::test
