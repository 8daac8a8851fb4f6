// Two texts on the page Model: which parts of one text restore its answer in the other.

#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/model/model_heads_support.h"

namespace headscope::test {
namespace {

class ModelPairs : public ModelHeads {};

TEST_F(ModelPairs, BundledPairFillsGridsAndClickAddsPatch) {
  openPair("got");
  EXPECT_EQ(ui.scene().cursor.model.view, app::ModelView::patch);
  EXPECT_GT(page().pair->a.difference, 0);
  EXPECT_LT(page().pair->b->difference, 0);
  EXPECT_TRUE(ui.has("difference.a") && ui.has("difference.b"));
  const std::string before = ui.sceneText();
  ui.hover("patch.grid.heads");
  EXPECT_GE(ui.view().hover.head, 0);
  EXPECT_EQ(page().head.previewed.cell.head, ui.view().hover.head);
  EXPECT_EQ(ui.sceneText(), before) << "hovering is no edit";
  ui.click("patch.grid.heads");
  ASSERT_EQ(std::ssize(ui.scene().compare.patches), 1);
  EXPECT_EQ(ui.scene().cursor.model.layer, ui.scene().compare.patches[0].layer);
  EXPECT_EQ(ui.scene().cursor.cell.head, ui.scene().compare.patches[0].head);
  ui.draw();
  EXPECT_TRUE(ui.has("patch.sum"));
  ui.chord(kCtrl, app::Key::z);
  EXPECT_THAT(ui.scene().compare.patches, IsEmpty()) << "one step of undo";
}

/// A hall sees the answers' difference in large figures, and what is kept, without the controls for it.
TEST_F(ModelPairs, StageShowsDifferencesAndPatchesWithoutControls) {
  openPair("got");
  const ImRect grid = ui.find("patch.grid.heads");
  ui.click("patch.grid.heads").draw();
  EXPECT_EQ(ui.find("patch.grid.heads").Max.y, grid.Max.y) << "the grid stays where it was clicked";
  EXPECT_TRUE(ui.has("patch.side.b"));
  const float wide = ui.find("difference.a").GetWidth() / ui.view().unit;
  ui.view().present = true;
  ui.draw().draw();
  EXPECT_FALSE(ui.has("patch.side.b") || ui.has("model.view.lens"));
  EXPECT_TRUE(ui.has("difference.b") && ui.has("patch.sum"));
  EXPECT_GT(ui.find("difference.a").GetWidth() / ui.view().unit, 1.2f * wide);
  EXPECT_THAT(cutOff(ui), IsEmpty());
}

TEST_F(ModelPairs, SwapExchangesTexts) {
  openPair("it");
  const app::Scene before = ui.scene();
  const double a = page().pair->a.difference;
  ui.click("text.swap");
  EXPECT_EQ(*ui.scene().compare.other, *before.setup.input.text);
  EXPECT_EQ(*ui.scene().setup.input.text, *before.compare.other);
  EXPECT_NEAR(page().pair->b->difference, -a, 1e-3);
  ui.click("text_b.clear");
  EXPECT_TRUE(ui.scene().compare.other.empty());
}

TEST_F(ModelPairs, ClickingPredictionsSelectsAnswers) {
  openPair("got");
  const Index before = page().pair->answers.id, other = ui.scene().compare.otherAnswer;
  const Index third = page().predictions->best[2].id;
  ui.click("guess.2");
  EXPECT_EQ(ui.scene().compare.answer, third);
  EXPECT_THAT(written(), IsEmpty()) << "the text doesn't go on";
  ui.shiftClick("guess.0");
  EXPECT_EQ(ui.scene().compare.otherAnswer, page().predictions->best[0].id);
  for (int i = 0; i < 50 && page().pair->answers.id == before; ++i) ui.draw();
  EXPECT_EQ(page().pair->answers.id, third);
  ui.chord(kCtrl, app::Key::z);
  EXPECT_EQ(ui.scene().compare.otherAnswer, other) << "one step of undo";
}

TEST_F(ModelPairs, TokensCanBeAlignedManually) {
  openPair("got");
  const auto aOfB = [&](Index token) { return page().pair->aOfB->at(static_cast<std::size_t>(token)); };
  const auto wait = [&](const auto& done) {
    for (int i = 0; i < 100 && !done(); ++i) ui.draw();
  };
  ASSERT_EQ(aOfB(9), 9);
  ui.click("text_b.9").click("text_b.with.1");
  wait([&] { return aOfB(9) == 1; });
  EXPECT_EQ(aOfB(9), 1);
  EXPECT_EQ(aOfB(1), -1) << "its token was taken";
  ui.click("text_b.9").click("text_b.with_none");
  wait([&] { return aOfB(9) < 0; });
  EXPECT_EQ(aOfB(9), -1);
  EXPECT_EQ(std::ssize(ui.scene().compare.alignment), 1);
  ui.chord(kCtrl, app::Key::z);
  wait([&] { return aOfB(9) == 1; });
  EXPECT_EQ(aOfB(9), 1) << "one step of undo";
  ui.click("text_b.align");
  wait([&] { return aOfB(9) == 9; });
  EXPECT_EQ(aOfB(9), 9);
}

TEST_F(ModelPairs, ChangingTextClearsAlignment) {
  openPair("got");
  ui.session().scene().compare.alignment = {{3, -1}};
  ui.draw().replaceText("text_b", "When Anna and Ben went to the lake , Anna gave the ball to");
  EXPECT_THAT(ui.scene().compare.alignment, IsEmpty());
}

TEST_F(ModelPairs, EveryViewFitsAtEverySize) {
  openPair("got");
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1920, 1080)}) {
    ui.resize(width, height);
    for (const char* view : {"heads", "patch", "attribution", "lens"}) {
      ui.request(std::string("model.view.") + view);
      EXPECT_THAT(flaws(ui), IsEmpty()) << view << " at " << width;
    }
  }
}

TEST_F(ModelPairs, HeadsShowTextAOrTheDifference) {
  openPair("list");
  ui.request("model.view.heads");
  const auto layers = page().layers;
  ui.click("model.shown.difference");
  for (int i = 0; i < 50 && !compared(); ++i) ui.draw();
  ASSERT_TRUE(compared());
  EXPECT_EQ(page().layers, *compared());
  EXPECT_GE(page().layers.front()->heads.front().differs, 0);
  ui.click("model.shown.a");
  EXPECT_EQ(page().layers, layers);
}

}  // namespace
}  // namespace headscope::test
