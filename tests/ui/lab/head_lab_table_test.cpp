// A table of embeddings that someone types from scratch: cells, names, dimensions, pasting and files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::EmbeddingSource;
using app::Key;
using app::Scene;
using app::WeightSource;

/// The program with the initial table open in the lab.
class TypedTable : public testing::Test {
 protected:
  TypedTable() : ui(1920, 1080) { ui.click("embedding.table").wait(0.6); }
  const attention::Table& table() { return *ui.scene().setup.input.table; }
  void paste(const char* text) {
    ImGui::SetClipboardText(text);
    ui.click("embeddings.paste");
  }
  /// A table whose middle cell, row 1 and column 1, is in the middle of the cells.
  void pasteSmall() { paste("a\t1\t2\t3\nb\t4\t5\t6\nc\t7\t8\t9\n"); }
  UiDriver ui;
};

TEST_F(TypedTable, OpensWithASmallComputedTable) {
  EXPECT_EQ(ui.scene().cursor.page, "lab");
  EXPECT_EQ(ui.scene().cursor.lab.tab, "embeddings");
  EXPECT_EQ(ui.scene().setup.input.source, EmbeddingSource::table);
  EXPECT_EQ(table().names[1], "animal") << "the words of the sentence";
  EXPECT_EQ(ui.scene().setup.model.modelDim, table().values.cols());
  EXPECT_NE(ui.scene().setup.weights.source, WeightSource::planted)
      << "planted heads can't read typed numbers";
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
  EXPECT_EQ(static_cast<app::Index>(ui.sequence().queries.size()), table().values.rows());
}

TEST_F(TypedTable, EnterMovesDownTheColumn) {
  pasteSmall();
  const float score = ui.sequence().attention.scores.at(0, 1, 1);
  ui.doubleClick("embeddings.cells");
  ASSERT_TRUE(ui.has("embeddings.typed"));
  for (const char* text : {"-2.75", "6"}) ui.chord(kCtrl, Key::a).type(text).key(Key::enter);
  EXPECT_FALSE(ui.has("embeddings.typed")) << "the last row";
  EXPECT_EQ(table().values(1, 1), -2.75f);
  EXPECT_EQ(table().values(2, 1), 6);
  EXPECT_EQ(table().values(0, 1), 2);
  EXPECT_NE(ui.sequence().attention.scores.at(0, 1, 1), score);
}

TEST_F(TypedTable, RefusesNonNumbers) {
  pasteSmall();
  const Scene before = ui.scene();
  for (const char* text : {"abc", "1,5,2", "nan", "inf", "1e99", ""}) {
    ui.doubleClick("embeddings.cells");
    ASSERT_TRUE(ui.has("embeddings.typed")) << text;
    ui.chord(kCtrl, Key::a).key(Key::del).type(text).key(Key::enter);
    EXPECT_TRUE(app::sameDocument(ui.scene(), before)) << text;
  }
}

/// A cell shows fewer digits than its number has. Looking at it must not round it.
TEST_F(TypedTable, OpeningACellKeepsItsNumber) {
  paste("a\t1\t2\t3\nb\t4\t0.123456789\t6\nc\t7\t8\t9\n");
  const attention::Table before = table();
  ui.doubleClick("embeddings.cells").key(Key::enter).key(Key::enter);
  EXPECT_TRUE(table() == before);
}

TEST_F(TypedTable, RenamesTokens) {
  ui.click("embeddings.token.2").click("embeddings.rename");
  ASSERT_TRUE(ui.has("embeddings.typed"));
  ui.chord(kCtrl, Key::a).type("🐱 猫").key(Key::enter);
  EXPECT_EQ(table().names[2], "🐱 猫");
  EXPECT_EQ(ui.sequence().queries[2].text, "🐱 猫");
}

TEST_F(TypedTable, AddingAndRemovingTokensAndDimensionsKeepsTheRest) {
  const attention::Matrix before = table().values;
  ui.click("embeddings.token.11").click("embeddings.insert");
  ASSERT_EQ(table().values.rows(), before.rows() + 1);
  EXPECT_EQ(table().values.topRows(before.rows()), before);
  ui.click("embeddings.add_dim");
  ASSERT_EQ(table().values.cols(), before.cols() + 1);
  EXPECT_EQ(table().values.rightCols(1).cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(ui.scene().setup.model.modelDim, before.cols() + 1);
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
  ui.click("embeddings.delete").click("embeddings.remove_dim");
  EXPECT_EQ(table().values, before);
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

TEST_F(TypedTable, NeverBecomesEmpty) {
  for (int i = 0; i < 20; ++i) ui.click("embeddings.delete").click("embeddings.remove_dim");
  EXPECT_EQ(table().values.rows(), 1);
  EXPECT_EQ(table().values.cols(), 1);
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
}

TEST_F(TypedTable, PastesSpreadsheetRows) {
  paste("cat\t1\t2\t3\t4\t5\t6\ndog\t-1\t0.5\t0\t1e-3\t7\t8\n");
  ASSERT_EQ(table().values.rows(), 2);
  ASSERT_EQ(table().values.cols(), 6);
  EXPECT_EQ(table().names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(table().values(1, 1), 0.5f);
  EXPECT_EQ(ui.scene().setup.model.modelDim, 6);
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
  EXPECT_EQ(ui.sequence().queries[1].text, "dog");
  paste("1,2\n3,4\n5,6\n");
  EXPECT_EQ(table().values.rows(), 3);
  EXPECT_EQ(ui.sequence().queries[2].text, "t2");
}

TEST_F(TypedTable, RefusesToPasteAnythingButATable) {
  const Scene before = ui.scene();
  for (const char* text : {"", "just words", "1,2\n3", "1,nan\n2,3", "1,two\n3,4"}) {
    paste(text);
    EXPECT_TRUE(app::sameDocument(ui.scene(), before)) << text;
  }
}

TEST_F(TypedTable, EachEditIsOneUndoStep) {
  pasteSmall();
  const Scene before = ui.scene();
  ui.doubleClick("embeddings.cells").chord(kCtrl, Key::a).type("9").key(Key::enter).key(Key::escape);
  ui.click("embeddings.add_dim").chord(kCtrl, Key::z);
  EXPECT_EQ(table().values.cols(), 3);
  EXPECT_EQ(table().values(1, 1), 9);
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(ui.scene().setup == before.setup);
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

TEST_F(TypedTable, LoadsACsvFile) {
  const TemporaryFolder folder;
  putFile(folder / "numbers.csv", "1,2,3,4\n5,6,7,8\n");
  ui.click("embeddings.load");
  ASSERT_EQ(ui.dialog(), "Load embeddings");
  ui.replaceText("files.path", (folder / "numbers.csv").string()).key(Key::enter);
  EXPECT_EQ(table().values.rows(), 2);
  EXPECT_EQ(table().values(1, 3), 8);
}

TEST_F(TypedTable, SwitchesBetweenTextAndTable) {
  ui.click("page.heads").click("embedding.text");
  EXPECT_EQ(ui.scene().setup.input.source, EmbeddingSource::text);
  EXPECT_EQ(ui.scene().setup.input.text, app::openingScene().setup.input.text);
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
}

TEST_F(TypedTable, LocksModelDimAndPlantedWeights) {
  ui.click("page.heads");
  const Scene before = ui.scene();
  ui.dragTo("model_dim", 0.9f).click("weights.planted").turn("text_seed", 2);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

/// The sentence's vectors stay what they are until one is changed.
TEST(SentenceTable, OpensByItsShortcutAndChangesNothing) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.chord(kCtrl, Key::t);
  EXPECT_EQ(ui.scene().cursor.lab.tab, "embeddings");
  EXPECT_TRUE(ui.has("embeddings.cells"));
  EXPECT_TRUE(app::sameDocument(ui.scene(), before));
}

}  // namespace
}  // namespace headscope::test
