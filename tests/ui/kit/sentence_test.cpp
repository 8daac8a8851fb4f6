// The sentence above the heads: words, what the selected query reads of them, and a dot for each head.

#include "app/kit/sentence.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;

std::string sentenceWord(Index at) {
  return fmt::format("sentence.query.{}", at);
}

std::string sentenceDot(Index head) {
  return fmt::format("sentence.head.{}", head);
}

TEST(Sentence, ClickOnAWordMakesItTheQuery) {
  UiDriver ui;
  EXPECT_EQ(ui.names("sentence.query.").size(), 12u);
  ui.click(sentenceWord(4));
  EXPECT_EQ(ui.scene().cursor.cell.query, 4);
  const Index key = ui.scene().cursor.cell.key;
  ui.hover(sentenceWord(9));
  EXPECT_EQ(ui.view().hover.query, 9);
  EXPECT_EQ(ui.scene().cursor.cell.query, 4);
  EXPECT_EQ(ui.scene().cursor.cell.key, key);
}

/// Each dot is under the word that its head reads most, or at the end if it reads all evenly.
TEST(Sentence, DotsStandUnderTheWordThatTheirHeadReadsMost) {
  for (const Index query : {11, 7, 4}) {
    UiDriver ui(1920, 1080);
    ui.session().scene().cursor.cell.query = query;
    ui.park().wait(1);
    for (Index head = 0; head < 8; ++head) {
      const auto row = ui.sequence().attention.weights[head].row(query);
      Index most = 0;
      const float weight = row.maxCoeff(&most);
      const float x = ui.find(sentenceDot(head)).GetCenter().x;
      SCOPED_TRACE(fmt::format("query {}, head {} reads {}", query, head, most));
      if (weight * static_cast<float>(query + 1) < 1.3f)
        EXPECT_GT(x, ui.find(sentenceWord(11)).Max.x);
      else
        EXPECT_NEAR(x, ui.find(sentenceWord(most)).GetCenter().x, 75);  // dots of other heads are beside it
    }
  }
}

TEST(Sentence, ClickOnADotSelectsItsHead) {
  UiDriver ui;
  ui.click(sentenceDot(5));
  EXPECT_EQ(ui.scene().cursor.cell.head, 5);
  EXPECT_EQ(ui.scene().cursor.focus, -1);
  ui.click("head.2").click(sentenceDot(6));
  EXPECT_EQ(ui.scene().cursor.focus, 6) << "the enlarged head is the selected one";
}

TEST(Sentence, ShiftClickOnADotShowsItsArcsToo) {
  UiDriver ui(1280, 720);
  app::uiState().watches = true;
  ui.shiftClick(sentenceDot(5)).park();
  EXPECT_EQ(ui.scene().cursor.cell.head, 0) << "the selected head stays";
  EXPECT_TRUE(ui.says("head 5"));
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  ui.click(sentenceDot(5)).park();
  EXPECT_FALSE(ui.says("head 5")) << "the selected head has the band";
  ui.click(sentenceDot(0)).park();
  EXPECT_TRUE(ui.says("head 5"));
  ui.shiftClick(sentenceDot(5)).park();
  EXPECT_FALSE(ui.says("head 5"));
  ui.shiftClick(sentenceDot(4)).shiftClick(sentenceDot(7)).park();
  EXPECT_TRUE(ui.says("head 4"));
  EXPECT_THAT(flaws(ui), testing::IsEmpty()) << "both read the same word most";
}

/// Long texts fold: the query and what it reads stay, and nothing scrolls or is cut.
TEST(Sentence, LongTextsFoldAroundWhatIsRead) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += fmt::format("{}{} ", i % 3 == 0 ? "the" : "word", i % 7);
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
    UiDriver ui(width, height);
    app::Scene scene = app::openingScene();
    scene.setup.input.text = text;
    scene.cursor.cell = {6, 150, 0};
    ui.show(scene).park();
    const app::Cell cell = ui.scene().cursor.cell;
    EXPECT_TRUE(ui.has(sentenceWord(cell.query)));
    EXPECT_TRUE(ui.has(sentenceWord(cell.key)));
    EXPECT_TRUE(ui.has("sentence.all"));
    EXPECT_FALSE(ui.names("sentence.folded.").empty());
    EXPECT_LT(ui.names("sentence.query.").size(), 60u);
    EXPECT_THAT(cutOff(ui), testing::IsEmpty());
    // The strip shows true places: a click in its middle unfolds there.
    ui.click("sentence.all");
    EXPECT_TRUE(ui.has(sentenceWord(100)) || ui.has(sentenceWord(99)));
    EXPECT_EQ(ui.scene().cursor.cell, cell) << "looking selects nothing";
  }
}

TEST(Sentence, CrossAttentionHasTwoLines) {
  UiDriver ui;
  app::Setup& setup = ui.session().scene().setup;
  setup.input.cross = true;
  setup.input.contextText = app::kSampleContext;
  setup.mask.layers = {};
  ui.draw();
  ASSERT_TRUE(ui.has("sentence.key.0"));
  EXPECT_LT(ui.find(sentenceWord(0)).Max.y, ui.find("sentence.key.0").Min.y);
  ui.click("sentence.key.3");
  EXPECT_EQ(ui.scene().cursor.cell.key, 3);
  EXPECT_TRUE(ui.scene().cursor.keyChosen);
}

TEST(Sentence, SaysWhatTheHeadReads) {
  UiDriver ui;
  const ImRect before = ui.find("heads.sentence");
  ui.click(sentenceDot(1));
  EXPECT_NE(ui.find("heads.sentence").GetWidth(), before.GetWidth());
}

}  // namespace
}  // namespace headscope::test
