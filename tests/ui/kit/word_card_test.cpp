// The card of the selected word: its vector is typed, dragged and mixed while the heads answer.

#include "app/kit/word_card.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::EmbeddingSource;
using app::Index;
using app::Key;
using app::WeightSource;
using testing::IsEmpty;

constexpr Index kRandomHead = 7;  // whose weights depend on every number
constexpr Index kSameToken = 6;   // the opening scene's head that looks for the same word
constexpr Index kPrevious = 0;    // and one that reads no words

class WordCard : public testing::Test {
 protected:
  explicit WordCard(int width = 1600, int height = 900) : ui(width, height) {}

  void open(Index word = 7) {
    ui.session().scene().cursor.cell.query = word;
    ui.session().scene().cursor.wordCard = true;
    ui.draw();
  }
  const app::Setup& setup() { return ui.scene().setup; }
  const attention::Table& table() { return *setup().input.table; }
  /// The vectors of the opening sentence.
  attention::Table own() {
    const app::Scene scene = app::openingScene();
    return (*app::studyWords(app::embeddingQuestion(scene.setup, 0, {}, nullptr)))->table;
  }
  Index firstCell() { return std::stoll(ui.names("word.cell.").front().substr(10)); }
  void typeMix(const char* text) {
    ui.click("word.mix").chord(kCtrl, Key::a).type(text).key(Key::enter);
    ui.wait(0.6);
  }
  /// Expects the opening sentence with another vector of one word.
  void expectOnlyWordChanged(Index word) {
    ASSERT_EQ(setup().input.source, EmbeddingSource::table);
    const attention::Table before = own();
    EXPECT_EQ(table().names, before.names);
    for (Index row = 0; row < before.values.rows(); ++row)
      EXPECT_EQ(table().values.row(row) == before.values.row(row), row != word) << "word " << row;
    EXPECT_EQ(setup().input.text, app::openingScene().setup.input.text) << "the text stays";
    EXPECT_EQ(setup().weights, app::openingScene().setup.weights) << "planted heads stay";
  }
  UiDriver ui;
};

TEST_F(WordCard, SecondClickOnTheSelectedWordOpensIt) {
  ui.click("sentence.query.4");
  EXPECT_EQ(ui.scene().cursor.cell.query, 4);
  EXPECT_FALSE(ui.has("word.card")) << "one click explores";
  const app::Scene before = ui.scene();
  ui.click("sentence.query.4");
  EXPECT_TRUE(ui.has("word.card"));
  EXPECT_TRUE(app::sameDocument(ui.scene(), before)) << "looking changes nothing";
  EXPECT_TRUE(ui.scene().setup == before.setup);
  ui.click("sentence.query.9");
  EXPECT_TRUE(ui.has("word.card")) << "the card follows the word";
  EXPECT_EQ(ui.scene().cursor.cell.query, 9);
  ui.key(Key::escape);
  EXPECT_FALSE(ui.has("word.card"));
  EXPECT_EQ(ui.scene().cursor.cell.query, 9);
  ui.request("word.edit");
  EXPECT_TRUE(ui.has("word.card"));
  ui.click("word.close");
  EXPECT_FALSE(ui.has("word.card"));
}

TEST_F(WordCard, TypedNumberLandsInTheTable) {
  open();
  const app::Scene before = ui.scene();
  const Index dim = firstCell();
  const auto type = [&](const char* text) {
    ui.click(fmt::format("word.cell.{}", dim));
    ASSERT_TRUE(ui.has("word.typed"));
    ui.chord(kCtrl, Key::a).type(text).key(Key::enter);
    EXPECT_FALSE(ui.has("word.typed"));
  };
  type("much");
  EXPECT_TRUE(app::sameDocument(ui.scene(), before)) << "no number";
  type("2.5");
  expectOnlyWordChanged(7);
  EXPECT_EQ(table().values(7, dim), 2.5f);
  EXPECT_EQ((table().values.array() != own().values.array()).count(), 1);
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(app::sameDocument(ui.scene(), before)) << "one step";
}

TEST_F(WordCard, DraggedBarChangesWeightsWhileHeld) {
  open();
  const app::Scene before = ui.scene();
  const attention::Stack weights = ui.sequence().attention.weights;
  const Index dim = firstCell();
  const ImVec2 at = ui.find(fmt::format("word.bar.{}", dim)).GetCenter();
  ui.moveTo(at.x, at.y).press().moveTo(at.x, at.y - 40);
  const float half = table().values(7, dim);
  EXPECT_GT(half, own().values(7, dim)) << "up is more";
  ui.moveTo(at.x, at.y - 300);
  EXPECT_GT(table().values(7, dim), half);
  expectOnlyWordChanged(7);
  EXPECT_TRUE(ui.heads().snapshot->setup == setup()) << "still held, and the heads are of what it is now";
  EXPECT_FALSE(ui.sequence().attention.weights[kRandomHead] == weights[kRandomHead]);
  ui.release().wait(0.6);
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(app::sameDocument(ui.scene(), before)) << "all of it was one step";
  EXPECT_TRUE(ui.sequence().attention.weights[kRandomHead] == weights[kRandomHead]);
}

TEST_F(WordCard, MixtureMakesAHeadReadAnotherWordAndBackRestoresIt) {
  open();
  const app::Scene before = ui.scene();
  EXPECT_EQ(app::heads_page::changedCells(ui.heads(), kSameToken), std::nullopt) << "nothing is edited yet";
  const float weight = ui.sequence().attention.weights.at(kSameToken, 7, 1);
  typeMix("animal");
  expectOnlyWordChanged(7);
  EXPECT_TRUE(table().values.row(7) == table().values.row(1));
  EXPECT_GT(ui.sequence().attention.weights.at(kSameToken, 7, 1), weight + 0.2f);
  const auto changed = app::heads_page::changedCells(ui.heads(), kSameToken);
  ASSERT_TRUE(changed.has_value());
  EXPECT_GT(*changed, 0);
  EXPECT_EQ(app::heads_page::changedCells(ui.heads(), kPrevious), std::optional<Index>(0))
      << "it reads no words";
  typeMix("0.5·it + 0.5·animal");
  const attention::Table vectors = own();
  EXPECT_LT((table().values.row(7) - (vectors.values.row(7) + vectors.values.row(1)) / 2).norm(), 1e-4f)
      << "the word is what it was when the card opened";
  typeMix("0.5·anmal");
  EXPECT_LT((table().values.row(7) - (vectors.values.row(7) + vectors.values.row(1)) / 2).norm(), 1e-4f);
  ui.click("word.back");
  EXPECT_TRUE(ui.scene().setup == before.setup) << "the text is the source again";
  EXPECT_EQ(app::heads_page::changedCells(ui.heads(), kSameToken), std::nullopt);
  ui.wait(0.6).chord(kCtrl, Key::z);
  expectOnlyWordChanged(7);
}

TEST_F(WordCard, HeadIsMadeToReadAChosenWord) {
  open();
  const app::Scene before = ui.scene();
  ui.session().scene().cursor.cell.head = kSameToken;
  ui.draw();
  for (const char* key : {"1", "5"}) {
    ui.choose("word.reads", key);
    ui.session().settle();
    ui.wait(0.6);
    expectOnlyWordChanged(7);
    EXPECT_GT(ui.sequence().attention.weights.at(kSameToken, 7, std::stoll(key)), 0.5f) << "key " << key;
  }
  ui.click("word.back").wait(0.6);
  EXPECT_TRUE(ui.scene().setup == before.setup);
  ui.session().scene().cursor.cell.head = kPrevious;
  ui.draw();
  ui.choose("word.reads", "1");
  ui.session().settle();
  ui.draw();
  EXPECT_TRUE(ui.scene().setup == before.setup) << "it reads places";
  EXPECT_THAT(ui.heads().word.card.problem, testing::HasSubstr("places. Try head"));
}

TEST_F(WordCard, DotDraggedOntoAnotherWordCopiesItInOneStep) {
  open();
  const app::Scene before = ui.scene();
  const ImVec2 from = ui.find("word.dot.7").GetCenter(), to = ui.find("word.dot.1").GetCenter();
  ui.moveTo(from.x, from.y).press().moveTo((from.x + to.x) / 2, (from.y + to.y) / 2);
  EXPECT_EQ(setup().input.source, EmbeddingSource::table) << "it answers while it is dragged";
  ui.moveTo(to.x, to.y);
  EXPECT_TRUE(table().values.row(7) == table().values.row(1));
  expectOnlyWordChanged(7);
  ui.release().wait(0.6);
  EXPECT_NEAR(ui.find("word.dot.1").GetCenter().x, to.x, 1.5f) << "the map doesn't turn";
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(app::sameDocument(ui.scene(), before));
  ui.click("word.dot.3");
  EXPECT_EQ(ui.scene().cursor.cell.query, 3) << "another word's dot opens its card";
  EXPECT_TRUE(app::sameDocument(ui.scene(), before));
}

TEST_F(WordCard, AllWordsOpenAsTheTableOfTheSentence) {
  open();
  ui.click("word.all");
  EXPECT_EQ(ui.scene().cursor.page, "lab");
  EXPECT_EQ(ui.scene().cursor.lab.tab, "embeddings");
  EXPECT_EQ(ui.scene().cursor.cell.query, 7);
}

TEST_F(WordCard, ShowsWhatCannotBeEdited) {
  open();
  app::Scene cross = ui.scene();
  cross.setup.input.cross = true;
  cross.setup.input.contextText = app::kSampleContext;
  cross.setup.mask.layers = {};
  ui.show(cross);
  EXPECT_TRUE(ui.has("word.card"));
  EXPECT_GT(ui.names("word.dot.").size(), 12u) << "words of both texts";
  EXPECT_THAT(ui.names("word.bar."), IsEmpty());
  EXPECT_FALSE(ui.has("word.back"));
  app::Scene model = app::openingScene();
  app::adoptModel(model, app::kLearned, *app::openModel(app::kLearned));
  model.cursor.wordCard = true;
  ui.show(model);
  EXPECT_TRUE(ui.has("word.card"));
  EXPECT_FALSE(ui.names("word.dot.").empty());
  EXPECT_THAT(ui.names("word.bar."), IsEmpty());
  EXPECT_FALSE(ui.has("word.mix"));
}

/// It takes its height from the page, and never covers the heads.
TEST(WordCardPlaces, LeavesTheHeadsTheirRoom) {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 900}, {1920, 1080}})
    for (const bool presents : {false, true}) {
      SCOPED_TRACE(fmt::format("{}×{}{}", width, height, presents ? ", presented" : ""));
      UiDriver ui(width, height);
      ui.view().present = presents;
      ui.session().scene().cursor.wordCard = true;
      ui.park().wait(0.5);
      ASSERT_TRUE(ui.has("word.card"));
      EXPECT_THAT(overlaps(ui), IsEmpty());
      EXPECT_THAT(cutOff(ui), IsEmpty());
      const ImRect card = ui.find("word.card");
      EXPECT_GT(card.Min.y, ui.find("sentence.query.7").Max.y);
      for (const std::string& head : ui.names("head."))
        if (head.find('.', 5) == std::string::npos) {
          EXPECT_GT(ui.find(head).Min.y, card.Max.y) << head;
          EXPECT_GT(ui.find(head).GetHeight(), 48) << head;
        }
      EXPECT_EQ(ui.has("word.mix"), !presents) << "a hall has no hands";
      EXPECT_FALSE(ui.names("word.bar.").empty());
    }
}

TEST(WordCardPlaces, PartsDontOverlap) {
  for (const float width : {420.0f, 560.0f, 800.0f, 1400.0f})
    for (const float height : {170.0f, 186.0f, 230.0f, 300.0f})
      for (const Index dims : {1, 5, 256, 4096})
        for (const bool hands : {true, false}) {
          SCOPED_TRACE(fmt::format("{} × {}, {} dimensions", width, height, dims));
          const ImRect area(10, 20, 10 + width, 20 + height);
          const app::WordCardLayout layout = app::layWordCard(area, 1, dims, hands);
          EXPECT_GE(layout.shown, 1);
          EXPECT_LE(layout.shown, std::min<Index>(dims, 12));
          const ImRect parts[] = {layout.head, layout.strip,   layout.bars, layout.cells,
                                  layout.dims, layout.nearest, layout.map,  layout.foot};
          for (std::size_t i = 0; i < std::size(parts); ++i) {
            if (parts[i].GetWidth() <= 0 || parts[i].GetHeight() <= 0) continue;
            EXPECT_TRUE(area.Contains(parts[i])) << i;
            for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(parts[i].Overlaps(parts[j])) << i << ", " << j;
          }
          EXPECT_GT(layout.bars.GetHeight(), 20);
          EXPECT_GT(layout.map.GetHeight(), 60);
        }
}

}  // namespace
}  // namespace headscope::test
