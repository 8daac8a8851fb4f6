// The page Model: the importance of its heads, finding one head among very many, changing generated text, and
// recently opened models.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "app/pages/model/model_page.h"
#include "app/pages/model/overview/overview_parts.h"
#include "app/platform/preferences.h"
#include "app/platform/ui_state.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/model/model_heads_support.h"

namespace headscope::test {
namespace {

using app::Key;
using attention::test::goldenModel;

constexpr app::Mods kShiftHeld{.shift = true};

TEST(ModelHeadTexts, ZeroChangeHasNoSign) {
  EXPECT_EQ(app::model_page::changeText(-0.001f), "0.00");
  EXPECT_EQ(app::model_page::changeText(0), "0.00");
  EXPECT_EQ(app::model_page::changeText(-0.006f), "−0.01");
  EXPECT_EQ(app::model_page::changeText(0.25f), "+0.25");
}

TEST_F(ModelHeads, ShowsPredictionLossWithoutEachHead) {
  ui.resize(1920, 1080).click("learned");
  rest();
  const app::HeadLosses* losses = page().currentLosses();
  ASSERT_TRUE(losses);
  EXPECT_EQ(losses->of, app::LossOf::next) << "nothing is written yet";
  EXPECT_EQ(losses->change.rows(), page().model.config->layerCount());
  EXPECT_EQ(losses->change.cols(), page().model.config->heads);
  EXPECT_TRUE(ui.has("model.headline"));
  // Switching a head off shows the same value.
  Index layer = 0, head = 0;
  const float most = losses->change.minCoeff(&layer, &head);
  EXPECT_LT(most, -0.05f) << "no head does anything";
  const float before = page().predictions->best.front().probability;
  const app::Index next = losses->next;  // these losses are replaced by those of the switched-off model
  ui.session().scene().cursor.model.layer = layer;
  choose(ui.session().scene().cursor, {head, page().tokens() - 1, 0});
  ui.park().key(Key::x);
  rest();
  const auto& lens = page().predictions->best;
  const auto same =
      std::find_if(lens.begin(), lens.end(), [&](const app::Prediction& guess) { return guess.id == next; });
  if (same != lens.end()) {
    EXPECT_NEAR(same->probability - before, most, 1e-4);
  }
  for (int i = 0; i < 2; ++i) ui.key(Key::period);
  rest();
  ASSERT_TRUE(page().currentLosses());
  EXPECT_EQ(page().currentLosses()->of, app::LossOf::written);
}

TEST_F(ModelHeads, OnlyTheSelectedHeadHasAFrame) {
  ui.resize(1920, 1080).click("learned");
  rest();
  app::uiState().watches = true;
  ui.park().screenshot();
  ASSERT_FALSE(page().named.empty());
  int frames = 0;
  for (Index layer = 0; layer < page().model.config->layerCount(); ++layer)
    for (Index head = 0; head < page().model.config->heads; ++head) {
      const ImRect tile = ui.find(fmt::format("model.{}.{}", layer, head));
      bool spot = false;
      for (const app::DrawnMark& mark : app::uiState().marks) {
        if (!tile.Contains(mark.area.GetCenter())) continue;
        frames += mark.area.GetWidth() >= tile.GetWidth() && mark.area.GetHeight() >= tile.GetHeight();
        spot = spot || (mark.name == "spot" && mark.area.Max.x < tile.GetCenter().x &&
                        mark.area.Max.y < tile.GetCenter().y);
      }
      const auto* does = page().summary(layer, head)->label(ui.scene().look.labelThreshold).detector;
      EXPECT_EQ(spot, std::find(page().named.begin(), page().named.end(), does) != page().named.end())
          << layer << "." << head;
    }
  EXPECT_EQ(frames, 1) << "the selected head's";
}

TEST_F(ModelHeads, ShowsCopyingScoreOfSelectedHead) {
  open(goldenModel("llama"));
  rest();
  ASSERT_TRUE(page().head.copying.contains({0, 0}));
  ui.key(Key::right);
  rest();
  ASSERT_TRUE(page().head.copying.contains({0, 1}));
  EXPECT_NE(page().head.copying.at({0, 1}), page().head.copying.at({0, 0}));
  EXPECT_TRUE(ui.has("model.facts_of_head"));
}

TEST_F(ModelHeads, ShiftDigitSelectsDetectorAndDigitSwitchesPage) {
  ui.click("learned");
  const std::vector<app::model_page::Behaviour> found =
      app::model_page::behavioursOf(page().layers, ui.scene().look.labelThreshold);
  ASSERT_GE(found.size(), 2u);
  ui.key(static_cast<Key>('2'), kShiftHeld);
  EXPECT_EQ(ui.scene().cursor.model.detector, found[1].name);
  ui.key(static_cast<Key>('1'), kShiftHeld);
  EXPECT_EQ(ui.scene().cursor.model.detector, found[0].name);
  ui.key(static_cast<Key>('9'), kShiftHeld);
  if (found.size() < 9) {
    EXPECT_EQ(ui.scene().cursor.model.detector, found[0].name) << "there is no ninth";
  }
  ui.key(Key::d0, kShiftHeld);
  EXPECT_EQ(ui.scene().cursor.model.detector, "");
  ui.key(static_cast<Key>('3'));
  EXPECT_EQ(ui.scene().cursor.page, "mask");
}

TEST_F(ModelHeads, EditingGeneratedWordRestartsFromThere) {
  open(goldenModel("llama"));
  const Index typed = page().tokens();
  const auto cats =
      ui.scene().setup.subject.opened->tokenizer->encode(" at the at", attention::SpecialTokens::leaveOut);
  ASSERT_TRUE(cats.ok());
  const std::vector<Index> three(cats->ids.begin(), cats->ids.end());
  ASSERT_GE(three.size(), 3u);
  app::Scene wrote = ui.scene();
  wrote.setup.subject.written = three;
  ui.show(wrote).click("strip.word." + std::to_string(typed - 1));
  EXPECT_FALSE(ui.has("strip.edit")) << "what was typed is changed in the text";
  ui.click("strip.word." + std::to_string(typed + 1)).frames(2);
  ASSERT_TRUE(ui.has("strip.edit"));
  ui.key(Key::escape);
  EXPECT_FALSE(ui.has("strip.edit"));
  EXPECT_EQ(written(), three);
  ui.click("strip.word." + std::to_string(typed + 1)).frames(2).type("the\n");
  EXPECT_FALSE(ui.has("strip.edit"));
  ASSERT_GE(written().size(), 2u);
  EXPECT_EQ(written()[0], three[0]) << "what stands before it stays";
  std::string said;
  for (Index at = typed + 1; at < page().tokens(); ++at) said += page().token(at);
  EXPECT_EQ(said, "the") << "and nothing stands behind it";
  EXPECT_EQ(ui.scene().cursor.cell.query, page().tokens() - 1);
  const std::vector<Index> changed = written();
  ui.key(Key::period);
  EXPECT_GT(page().tokens(), typed + 2) << "it goes on from there";
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(written(), changed);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(written(), three) << "the word is a step of its own";
  ui.chord(kCtrlShift, Key::z);
  EXPECT_EQ(written(), changed);
}

TEST_F(ModelHeads, LongRunCanBeStoppedAndResumed) {
  ui.click("learned");
  const Index before = page().tokens();
  std::string text = *ui.scene().setup.input.text;
  for (int i = 0; i < 6; ++i) text += " " + text;
  ui.session().scene().setup.input.text = text;
  const auto stopOrGoOn = [&] { ui.session().actions().find("model.stop").run(ui.session().scene()); };
  ui.frames(1);
  stopOrGoOn();
  ui.draw();
  ASSERT_TRUE(page().run.stopped) << "the pass was over before it could be stopped";
  EXPECT_EQ(page().tokens(), before) << "what was there stays";
  EXPECT_FALSE(ui.session().error());
  stopOrGoOn();
  ui.draw();
  EXPECT_FALSE(page().run.stopped);
  EXPECT_GT(page().tokens(), 40 * before);
}

TEST_F(ModelHeads, ListsRecentModelsAndMarksMissingOnes) {
  TemporaryFolder folder;
  std::filesystem::copy(goldenModel("qwen2"), folder / "mine", std::filesystem::copy_options::recursive);
  open(folder / "mine");
  open(goldenModel("gpt2"));
  ui.chord(kCtrl, Key::n).key(static_cast<Key>('7'));
  ASSERT_EQ(page().opening.recent.size(), 2u);
  EXPECT_EQ(page().opening.recent[0].name, "gpt2");
  EXPECT_EQ(page().opening.recent[1].name, "mine");
  ui.click("recent.1");
  ASSERT_TRUE(ui.scene().setup.subject.opened);
  EXPECT_EQ(ui.scene().setup.subject.opened->name, "mine");
  std::filesystem::remove_all(folder / "mine");
  ui.chord(kCtrl, Key::n).key(static_cast<Key>('7'));
  ASSERT_EQ(page().opening.recent.size(), 2u);
  EXPECT_EQ(page().opening.recent[0].name, "mine");
  EXPECT_FALSE(page().opening.recent[0].there);
  ui.click("recent.0");
  EXPECT_FALSE(ui.scene().setup.subject.opened);
  ui.click("forget.0");
  EXPECT_EQ(page().opening.recent.size(), 1u);
  EXPECT_EQ(app::loadRecent().size(), 1u);
}

TEST_F(ModelHeads, SidePanelShowsHowMuchWasRead) {
  open(goldenModel("llama"));
  EXPECT_TRUE(ui.has("model.read"));
  EXPECT_EQ(page().model.layersRead, page().model.config->layerCount());
  EXPECT_TRUE(page().model.headRead);
}

TEST_F(ModelHeads, ManyHeadsAreAllVisibleAndCanBeMagnified) {
  TemporaryFolder folder;
  Recording(40, 48, 6, 6, 2, 1, true).save(folder / "large.safetensors", false);
  ui.resize(1600, 900);
  open(folder / "large.safetensors");
  ASSERT_TRUE(ui.has("model.row.0"));
  ASSERT_TRUE(ui.has("model.row.39")) << "all layers are in sight";
  EXPECT_FALSE(ui.has("model.magnifier"));
  ui.hoverAt("model.row.20", 0.5f, 0.5f).frames(4);
  EXPECT_TRUE(ui.has("model.magnifier"));
  EXPECT_EQ(page().pictures.magnified.heads.size(), 25u);
  EXPECT_EQ(page().head.previewed.layer, 20);
  const Index head = page().head.previewed.cell.head;
  const float before = page().pictures.rowPixels;
  for (int i = 0; i < 4; ++i) ui.wheelAt("model.row.20", 0.5f, 0.5f, 1);
  ui.frames(3);
  EXPECT_GT(page().pictures.rowPixels, 1.25f * before);
  EXPECT_EQ(page().head.previewed.layer, 20) << "what is under the pointer stays there";
  EXPECT_NEAR(static_cast<double>(page().head.previewed.cell.head), static_cast<double>(head), 1);
  EXPECT_FALSE(ui.has("model.row.0"));
  // Dragging pans them and doesn't count as a click.
  const ImVec2 scroll = page().zoom.scroll;
  const app::Cell selected = ui.scene().cursor.cell;
  ui.dragAcross("model.row.20", ImVec2(0.5f, 0.5f), ImVec2(0.7f, 0.5f)).frames(2);
  EXPECT_EQ(ui.scene().cursor.page, "model");
  EXPECT_EQ(ui.scene().cursor.cell, selected);
  EXPECT_LT(page().zoom.scroll.x, scroll.x);
  // The arrow keys scroll the selected head into view.
  ui.park();
  for (int i = 0; i < 10; ++i) ui.key(Key::down);
  ui.frames(3);
  EXPECT_TRUE(ui.has("model.row." + std::to_string(ui.scene().cursor.model.layer)));
  ui.key(Key::home).frames(3);
  EXPECT_EQ(page().pictures.rowPixels, before);
  EXPECT_TRUE(ui.has("model.row.0"));
}

TEST_F(ModelHeads, GeneratedTextFits) {
  ui.resize(1920, 1080).click("learned").click("skill.4");
  for (int i = 0; i < 3; ++i) ui.key(Key::period);
  ui.wait(5);  // the message about opening disappears
  ui.park();
  rest();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(ModelHeads, MagnifierMatchesPicture) {
  TemporaryFolder folder;
  Recording(40, 48, 12, 12, 4, 1, true).save(folder / "many.safetensors", false);
  ui.resize(1920, 1080);
  open(folder / "many.safetensors");
  ui.wait(5).hoverAt("model.row.20", 0.4f, 0.5f).frames(4);
  EXPECT_TRUE(imagesMatch(ui.screenshot("model.magnifier"), "model_magnifier"));
}

}  // namespace
}  // namespace headscope::test
