// The table of typed embeddings: cells, rows, columns and pasting.

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

/// The program with the editor open on its initial table.
class TableEditor : public testing::Test {
 protected:
  TableEditor() { ui.chord(kCtrl, Key::t); }
  const attention::Table& table() { return *ui.scene().setup.input.table; }
  void enterCell(const std::string& cell, std::string_view text) {
    ui.click(cell).chord(kCtrl, Key::a).key(Key::del).type(text).key(Key::enter);
    ui.key(Key::escape);
  }
  /// Reopens the editor, which Escape may have closed together with the cell.
  void open() {
    if (ui.dialog() == "") ui.chord(kCtrl, Key::t);
  }
  void paste(const char* text) {
    ImGui::SetClipboardText(text);
    ui.click("table.paste");
  }
  UiDriver ui;
};

TEST_F(TableEditor, OpensWithASmallComputedTable) {
  EXPECT_EQ(ui.dialog(), "table");
  EXPECT_EQ(ui.scene().setup.input.source, EmbeddingSource::table);
  EXPECT_GT(table().values.rows(), 1);
  EXPECT_EQ(ui.scene().setup.model.modelDim, table().values.cols());
  EXPECT_NE(ui.scene().setup.weights.source, WeightSource::planted)
      << "planted heads can't read typed numbers";
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
  EXPECT_EQ(static_cast<app::Index>(ui.sequence().queries.size()), table().values.rows());
  ui.click("table.done");
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_EQ(ui.names("sentence.query.").size(), static_cast<std::size_t>(table().values.rows()));
}

TEST_F(TableEditor, EditingACellChangesItsValueAndTheScores) {
  const attention::Table before = table();
  const float score = ui.sequence().attention.scores.at(0, 1, 1);
  enterCell("cell.1.2", "-2.75");
  attention::Table expected = before;
  expected.values(1, 2) = -2.75f;
  EXPECT_TRUE(table() == expected);
  EXPECT_NE(ui.sequence().attention.scores.at(0, 1, 1), score);
}

TEST_F(TableEditor, EditingANameChangesItsToken) {
  enterCell("cell.2.name", "🐱 猫");
  EXPECT_EQ(table().names[2], "🐱 猫");
  EXPECT_EQ(ui.sequence().queries[2].text, "🐱 猫");
}

TEST_F(TableEditor, RefusesNonNumbers) {
  const Scene before = ui.scene();
  for (const char* text : {"abc", "1,5,2", "nan", "inf", "1e99", ""}) {
    open();
    const ImRect done = ui.find("table.done");
    const render::Image calm = ui.screenshot();
    ui.click("cell.0.0").chord(kCtrl, Key::a).key(Key::del).type(text).key(Key::enter);
    EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << text;
    EXPECT_GT(
        pixelsApart(calm, ui.screenshot(), ImRect(done.Min.x, done.Min.y - 60, done.Min.x + 600, done.Min.y)),
        100)
        << text << ": a sentence says so above the buttons";
    // A valid number clears the message.
    ui.chord(kCtrl, Key::a).key(Key::del).type("1").key(Key::enter);
    EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << "the cell was 1 before";
    ui.click("table.done");
  }
}

TEST_F(TableEditor, EnterMovesDownTheColumn) {
  ui.click("cell.0.1");
  for (const char* text : {"5", "6", "7"}) ui.chord(kCtrl, Key::a).type(text).key(Key::enter);
  EXPECT_EQ(table().values(0, 1), 5);
  EXPECT_EQ(table().values(1, 1), 6);
  EXPECT_EQ(table().values(2, 1), 7);
}

TEST_F(TableEditor, AddingAndRemovingRowsAndColumnsKeepsTheRest) {
  const attention::Matrix before = table().values;
  ui.click("table.add_row");
  ASSERT_EQ(table().values.rows(), before.rows() + 1);
  EXPECT_EQ(table().values.topRows(before.rows()), before);
  EXPECT_EQ(table().values.bottomRows(1).cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(ui.sequence().queries.size(), static_cast<std::size_t>(before.rows() + 1));
  ui.click("table.add_col");
  ASSERT_EQ(table().values.cols(), before.cols() + 1);
  EXPECT_EQ(ui.scene().setup.model.modelDim, before.cols() + 1);
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
  ui.click("table.remove_row").click("table.remove_col");
  EXPECT_EQ(table().values, before);
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

TEST_F(TableEditor, TableNeverBecomesEmpty) {
  for (int i = 0; i < 20; ++i) ui.click("table.remove_row").click("table.remove_col");
  EXPECT_EQ(table().values.rows(), 1);
  EXPECT_EQ(table().values.cols(), 1);
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
}

TEST_F(TableEditor, PastesSpreadsheetRows) {
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

TEST_F(TableEditor, RefusesToPasteAnythingButATable) {
  const Scene before = ui.scene();
  for (const char* text : {"", "just words", "1,2\n3", "1,nan\n2,3", "1,two\n3,4"}) {
    paste(text);
    EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << text;
  }
  ui.click("table.done");
  EXPECT_EQ(ui.names("head.").size(), static_cast<std::size_t>(before.setup.model.heads));
}

TEST_F(TableEditor, EachEditIsOneUndoStep) {
  const Scene before = ui.scene();
  enterCell("cell.1.1", "9");
  open();
  ui.click("table.add_row").click("table.done").chord(kCtrl, Key::z);
  EXPECT_EQ(table().values.rows(), before.setup.input.table->values.rows());
  EXPECT_EQ(table().values(1, 1), 9);
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(ui.scene().setup == before.setup);
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

TEST_F(TableEditor, LoadsACsvFile) {
  const TemporaryFolder folder;
  putFile(folder / "numbers.csv", "1,2,3,4\n5,6,7,8\n");
  ui.click("table.load");
  ASSERT_EQ(ui.dialog(), "Load embeddings");
  ui.replaceText("files.path", (folder / "numbers.csv").string()).key(Key::enter);
  EXPECT_EQ(table().values.rows(), 2);
  EXPECT_EQ(table().values(1, 3), 8);
}

TEST(TableChoice, SwitchesBetweenTextAndTable) {
  UiDriver ui;
  ui.click("embedding.table");
  ASSERT_EQ(ui.dialog(), "table");
  ui.click("table.done").click("embedding.text");
  EXPECT_EQ(ui.scene().setup.input.source, EmbeddingSource::text);
  EXPECT_EQ(ui.scene().setup.input.text, app::openingScene().setup.input.text);
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
  ui.click("embedding.table").click("table.done");
  EXPECT_EQ(ui.scene().setup.input.source, EmbeddingSource::table);
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
}

TEST(TableChoice, TableLocksModelDimAndPlantedWeights) {
  UiDriver ui;
  ui.click("embedding.table").click("table.done");
  const Scene before = ui.scene();
  ui.dragTo("model_dim", 0.9f).click("weights.planted").turn("text_seed", 2);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

}  // namespace
}  // namespace headscope::test
