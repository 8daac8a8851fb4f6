// The text: typed characters become tokens, chips, sequences of a batch and a context.

#include <gtest/gtest.h>

#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;
using app::Scene;

std::vector<std::string> texts(const std::vector<attention::Token>& tokens) {
  std::vector<std::string> result;
  for (const auto& token : tokens) result.push_back(token.text);
  return result;
}

TEST(Text, TypingUpdatesTokensSnapshotAndChips) {
  UiDriver ui;
  const std::size_t before = ui.sequence().queries.size();
  EXPECT_EQ(ui.names("sentence.query.").size(), before);
  ui.click("text").key(Key::end, kCtrl).type(" Really");
  EXPECT_EQ(ui.scene().setup.input.text,
            "The animal didn't cross the street because it was too tired . Really");
  EXPECT_EQ(ui.sequence().queries.size(), before + 1);
  EXPECT_EQ(ui.sequence().queries.back().text, "Really");
  EXPECT_EQ(ui.sequence().attention.weights.rows(), static_cast<Index>(before + 1));
  EXPECT_EQ(ui.names("sentence.query.").size(), before + 1);
}

TEST(Text, ReplacingAllGivesNewTokens) {
  UiDriver ui;
  ui.replaceText("text", "a b c");
  EXPECT_THAT(texts(ui.sequence().queries), ElementsAre("a", "b", "c"));
  EXPECT_EQ(ui.names("sentence.query.").size(), 3u);
}

TEST(Text, TypedLettersTriggerNoShortcuts) {
  UiDriver ui;
  ui.replaceText("text", "drop l p . , r");
  EXPECT_EQ(ui.scene().setup.input.text, "drop l p . , r");
  EXPECT_FALSE(ui.view().present);
  EXPECT_FALSE(ui.scene().cursor.decoding);
  EXPECT_EQ(ui.dialog(), "");
}

TEST(Text, TokenizesByCharactersAndBytes) {
  UiDriver ui;
  ui.replaceText("text", "né").click("tokenization.characters");
  EXPECT_EQ(ui.sequence().queries.size(), 2u);
  ui.click("tokenization.bytes");
  EXPECT_EQ(ui.sequence().queries.size(), 3u);
}

TEST(Text, NoTextShowsTheEmptyState) {
  UiDriver ui;
  ui.replaceText("text", "");
  EXPECT_EQ(ui.scene().setup.input.text, "");
  EXPECT_TRUE(ui.snapshot().empty);
  EXPECT_FALSE(ui.snapshot().error.has_value());
  EXPECT_TRUE(ui.names("head.").empty());
  EXPECT_TRUE(ui.names("sentence.query.").empty());
  ui.type("back");
  EXPECT_EQ(ui.names("head.").size(), 8u);
}

TEST(Text, OneTokenAttendsToItself) {
  UiDriver ui;
  ui.replaceText("text", "alone");
  ASSERT_EQ(ui.sequence().queries.size(), 1u);
  EXPECT_EQ(ui.sequence().attention.weights.at(3, 0, 0), 1);
  EXPECT_EQ(ui.names("head.").size(), 8u);
  ui.click("head.2");
  EXPECT_EQ(ui.scene().cursor.focus, 2);
  ui.wheel("focus", 3);
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

TEST(Text, EmojiAndCjkSurviveEditing) {
  UiDriver ui;
  const std::string typed = "我 爱 🐱 and 👩‍🔬 Ω";
  ui.replaceText("text", typed);
  EXPECT_EQ(ui.scene().setup.input.text, typed);
  ui.key(Key::end, kCtrl).type(" 🦊");
  EXPECT_EQ(ui.scene().setup.input.text, typed + " 🦊");
  ui.key(Key::backspace);
  EXPECT_EQ(ui.scene().setup.input.text, typed + " ") << "an emoji is one character to the editor";
  EXPECT_EQ(ui.sequence().queries[2].text, "🐱");
}

TEST(Text, PastedTextStaysWhole) {
  UiDriver ui;
  ui.replaceText("text", "🐱 x").chord(kCtrl, Key::a).chord(kCtrl, Key::c).key(Key::end, kCtrl);
  ui.chord(kCtrl, Key::v);
  EXPECT_EQ(ui.scene().setup.input.text, "🐱 x🐱 x");
}

TEST(Text, TypingIsOneUndoStep) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.replaceText("text", "one two").clickAway().wait(0.6).click("bar.undo");
  EXPECT_TRUE(ui.scene().setup == before.setup);
  EXPECT_FALSE(ui.session().document().canUndo());
}

TEST(Text, UndoWorksWhileTypingAndTypingContinues) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.click("text").key(Key::end, kCtrl).type(" more").wait(0.6).chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup.input.text, before.setup.input.text);
  ui.type(" words");
  EXPECT_EQ(ui.scene().setup.input.text, before.setup.input.text + " words");
}

TEST(Text, UndoPutsTheCaretAfterTheChange) {
  UiDriver ui;
  const std::string before = *ui.scene().setup.input.text;
  ui.click("text").chord(kCtrl, Key::a).type("xyz").wait(0.6).chord(kCtrl, Key::z).type("!");
  EXPECT_EQ(*ui.scene().setup.input.text, before + "!");
}

/// The box wraps long lines only for display; the text must not contain the breaks.
TEST(Text, WrappingLeavesNoTraceInTheText) {
  UiDriver ui;
  std::string typed;
  for (int i = 0; i < 30; ++i) typed += (i ? " word" : "word") + std::to_string(i * i);
  ui.replaceText("text", typed);
  EXPECT_EQ(ui.scene().setup.input.text, typed);
  ui.key(Key::home, kCtrl).type("first and foremost ");
  EXPECT_EQ(ui.scene().setup.input.text, "first and foremost " + typed);
  ui.key(Key::end, kCtrl);
  for (int i = 0; i < 6; ++i) ui.key(Key::backspace);
  EXPECT_EQ(ui.scene().setup.input.text, "first and foremost " + typed.substr(0, typed.size() - 6));
  ui.chord(kCtrl, Key::a).chord(kCtrl, Key::c);
  EXPECT_EQ(std::string(ImGui::GetClipboardText()), ui.scene().setup.input.text);
  ui.type("x\ny z");
  EXPECT_EQ(ui.scene().setup.input.text, "x\ny z");
}

TEST(Text, EscapeKeepsTypedText) {
  UiDriver ui;
  ui.replaceText("text", "kept words").key(Key::escape).clickAway();
  EXPECT_EQ(ui.scene().setup.input.text, "kept words");
}

TEST(Text, LinesFormABatchWithMaskedPadding) {
  UiDriver ui;
  ui.replaceText("text", "the quick brown fox\nhello there\nx");
  ASSERT_EQ(ui.snapshot().sequences.size(), 3u);
  EXPECT_EQ(ui.sequence().queryLength, 4);
  ui.choose("sequence", "1");
  EXPECT_EQ(ui.scene().cursor.sequence, 1);
  EXPECT_EQ(ui.sequence().queryLength, 2);
  EXPECT_THAT(texts(ui.sequence().queries), ElementsAre("hello", "there", "<pad>", "<pad>"));
  ui.click("causal");
  EXPECT_EQ(ui.sequence().attention.weights.at(0, 0, 3), 0) << "padding is masked";
  ui.click("padding");
  EXPECT_GT(ui.sequence().attention.weights.at(3, 0, 3), 0) << "the uniform head sees it now";
  ui.choose("sequence", "2");
  EXPECT_EQ(ui.sequence().queryLength, 1);
}

TEST(Text, LastOfManySequencesCanBeChosen) {
  UiDriver ui;
  std::string lines = "0 a";
  for (int i = 1; i < 64; ++i) lines += "\n" + std::to_string(i) + " a";
  ui.replaceText("text", lines);
  ASSERT_EQ(ui.snapshot().sequences.size(), 64u);
  ui.choose("sequence", "63");
  EXPECT_EQ(ui.scene().cursor.sequence, 63);
  EXPECT_EQ(ui.sequence().queries[0].text, "63");
  ui.replaceText("text", lines + "\none too many");
  ASSERT_TRUE(ui.snapshot().error.has_value());
  EXPECT_EQ(ui.snapshot().error->place, app::Place::input);
}

TEST(Text, FewerLinesClampTheChosenSequence) {
  UiDriver ui;
  ui.replaceText("text", "a b\nc d\ne f").choose("sequence", "2");
  ui.replaceText("text", "just one");
  EXPECT_EQ(ui.scene().cursor.sequence, 0);
  EXPECT_EQ(ui.names("head.").size(), 8u);
}

TEST(Words, HoveringAWordHighlightsItsQueryInEveryHead) {
  UiDriver ui;
  ui.park();
  const render::Image before = ui.screenshot();
  ui.hover("sentence.query.3");
  EXPECT_EQ(ui.view().hover.query, 3);
  const render::Image after = ui.screenshot();
  for (int head = 0; head < 8; ++head)
    EXPECT_GT(pixelsApart(before, after, ui.find("head." + std::to_string(head))), 20) << "head " << head;
  ui.click("sentence.query.3");
  EXPECT_EQ(ui.scene().cursor.cell.query, 3);
}

TEST(Cross, AttendsToTheContext) {
  UiDriver ui;
  ui.click("cross");
  ASSERT_FALSE(ui.snapshot().error.has_value()) << "it begins with a sample";
  ui.replaceText("context", "");
  ASSERT_TRUE(ui.snapshot().error.has_value()) << "a context has to be typed first";
  EXPECT_EQ(ui.snapshot().error->place, app::Place::context);
  ui.click("context").type("le chat noir");
  ASSERT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
  EXPECT_THAT(texts(ui.sequence().keys), ElementsAre("le", "chat", "noir"));
  EXPECT_EQ(ui.sequence().queries.size(), 12u);
  EXPECT_FALSE(ui.snapshot().causal);
  EXPECT_EQ(ui.names("sentence.key.").size(), 3u);
  ui.hover("sentence.key.2");
  EXPECT_EQ(ui.view().hover.key, 2);
  EXPECT_EQ(ui.view().hover.query, -1);
  ui.hover("sentence.query.10");
  EXPECT_EQ(ui.view().hover.query, 10);
  EXPECT_EQ(ui.view().hover.key, -1);
  ui.click("sentence.key.1");
  EXPECT_EQ(ui.scene().cursor.cell.key, 1);
}

TEST(Cross, RefusesContextLinesThatDoNotMatchTheText) {
  UiDriver ui;
  ui.click("cross").click("context").type("one\ntwo");
  ASSERT_TRUE(ui.snapshot().error.has_value());
  EXPECT_THAT(ui.snapshot().error->message, HasSubstr("2 lines"));
  ui.replaceText("context", "only one");
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

TEST(Errors, ReportsATooSmallModelDimAndRecovers) {
  UiDriver ui;
  const app::Scene before = ui.scene();
  ui.typeValue("model_dim", "8");
  EXPECT_EQ(ui.scene(), before) << "planted heads need at least 16";
  EXPECT_THAT(ui.view().controls.refusal.reason, HasSubstr("16"));
  ui.session().scene().setup.model.modelDim = 8;  // as a file may contain
  ui.session().scene().setup.model.headDim = 1;
  ui.draw();
  ASSERT_TRUE(ui.snapshot().error.has_value()) << "planted embeddings need room";
  EXPECT_EQ(ui.scene().setup.input.text, app::openingScene().setup.input.text);
  ui.typeValue("model_dim", "256");
  EXPECT_FALSE(ui.snapshot().error.has_value());
  EXPECT_EQ(ui.names("head.").size(), 8u);
}

}  // namespace
}  // namespace headscope::test
