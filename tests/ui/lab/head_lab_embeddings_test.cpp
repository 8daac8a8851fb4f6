// The lab's tab for changing embeddings by hand.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/platform/ui_state.h"
#include "app/scene/models/open_model.h"
#include "app/scene/scene_json.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/lab/head_lab_support.h"

namespace headscope::test {
namespace {

using app::EmbeddingSource;
using app::Key;

class Embeddings : public LabTabOnScreen {
 protected:
  Embeddings() : LabTabOnScreen("embeddings") {}
};

TEST_F(Embeddings, ShowTablePointsAndEveryHead) {
  EXPECT_TRUE(ui.has("embeddings.cells"));
  EXPECT_TRUE(ui.has("embeddings.plane"));
  EXPECT_TRUE(ui.has("embeddings.point.11"));
  EXPECT_TRUE(ui.has("embeddings.head.7"));
  expectTidy("embeddings");
  EXPECT_EQ(setup().input.source, EmbeddingSource::text) << "looking changes nothing";
  EXPECT_TRUE(imagesMatch(ui.screenshot("embeddings.plane"), "lab_plane"));
  ui.view().preferences.light = true;
  park();
  EXPECT_THAT(faintTexts(ui), IsEmpty());
}

TEST_F(Embeddings, DraggingCellUpdatesEveryHead) {
  const app::Scene before = ui.scene();
  const attention::Stack weights = ui.sequence().attention.weights;
  const ImRect cells = ui.find("embeddings.cells");
  const float x = cells.Min.x + 5, y = cells.Min.y + 5;
  ui.moveTo(x, y).press().moveTo(x, y - 40);
  ASSERT_EQ(setup().input.source, EmbeddingSource::table);
  const attention::Matrix half = table().values;
  ui.moveTo(x, y - 200);
  EXPECT_EQ((table().values.array() != half.array()).count(), 1);
  EXPECT_GT(table().values.sum(), half.sum()) << "up is more";
  EXPECT_TRUE(page().snapshot->setup == setup()) << "still held, and the heads are of what it is now";
  EXPECT_EQ(setup().weights.source, before.setup.weights.source) << "planted heads stay";
  EXPECT_EQ(table().names[1], "animal");
  ui.release().wait(0.6);
  EXPECT_EQ(setup().input.text, before.setup.input.text) << "the text stays";
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(app::sameDocument(ui.scene(), before)) << "all of it was one step";
  EXPECT_TRUE(ui.sequence().attention.weights[0] == weights[0]);
}

TEST_F(Embeddings, HoveredPointIsGhostUntilClicked) {
  const auto ghosts = [&] {
    written();
    return std::ranges::count(app::uiState().marks, "ghost", &app::DrawnMark::name);
  };
  park();
  EXPECT_EQ(ghosts(), 0);
  const app::Cursor before = ui.scene().cursor;
  ui.hover("embeddings.point.3");
  EXPECT_GT(ghosts(), 8) << "in the plane, in the table, and in each head";
  EXPECT_EQ(ui.scene().cursor, before);
  ui.press().release();
  EXPECT_EQ(ui.scene().cursor.cell.query, 3);
  EXPECT_FALSE(ui.scene().cursor.keyChosen) << "a word alone was chosen";
}

TEST_F(Embeddings, TypedCellRefusesInvalidNumber) {
  const auto type = [&](const char* text) {
    ui.doubleClick("embeddings.cells").frames(2);
    ASSERT_TRUE(ui.has("embeddings.typed"));
    ui.chord(kCtrl, Key::a).type(text).key(Key::enter);
    if (ui.has("embeddings.typed")) ui.key(Key::escape);  // Enter goes on in the cell below
  };
  type("2.5");
  ASSERT_EQ(setup().input.source, EmbeddingSource::table);
  EXPECT_EQ((table().values.array() == 2.5f).count(), 1);
  const app::Scene before = ui.scene();
  type("much");
  EXPECT_TRUE(app::sameDocument(ui.scene(), before));
  EXPECT_FALSE(ui.has("embeddings.typed"));
}

TEST_F(Embeddings, DraggedPointFollowsPointerAndMovesToken) {
  const ImVec2 from = middle("embeddings.point.5");
  const attention::Stack weights = ui.sequence().attention.weights;
  ui.moveTo(from.x, from.y).press().moveTo(from.x + 60, from.y - 45);
  const ImVec2 now = middle("embeddings.point.5");
  EXPECT_NEAR(now.x, from.x + 60, 1.5f);
  EXPECT_NEAR(now.y, from.y - 45, 1.5f);
  EXPECT_TRUE(page().snapshot->setup == setup());
  EXPECT_FALSE(ui.sequence().attention.weights[6] == weights[6]);
  for (app::Index row = 0; row < 12; ++row)
    if (row != 5) {
      EXPECT_NEAR(middle(fmt::format("embeddings.point.{}", row)).x,
                  middle(fmt::format("embeddings.point.{}", row)).x, 0.1f);
    }
  ui.release();
  EXPECT_TRUE(ui.has("embeddings.fit")) << "the components are those from before";
  ui.click("embeddings.fit");
  EXPECT_FALSE(ui.has("embeddings.fit"));
}

TEST_F(Embeddings, AnyTwoDimensionsCanBePlotted) {
  ui.choose("embeddings.axes", "dimensions").choose("embeddings.second", "40");
  const ImVec2 from = middle("embeddings.point.3");
  ui.moveTo(from.x, from.y).press().moveTo(from.x + 10, from.y);
  ASSERT_EQ(setup().input.source, EmbeddingSource::table);
  const attention::Matrix first = table().values;
  ui.moveTo(from.x + 50, from.y);
  EXPECT_EQ((table().values.array() != first.array()).count(), 1) << "one dimension of one token";
  EXPECT_GT(table().values.row(3).sum(), first.row(3).sum());
  ui.moveTo(from.x + 50, from.y - 50);
  EXPECT_GT(table().values(3, 40), first(3, 40));
  ui.release();
  expectTidy("two dimensions");
}

TEST_F(Embeddings, ChipsSwapDuplicateInsertAndDelete) {
  const ImVec2 a = middle("embeddings.token.1"), b = middle("embeddings.token.4");
  ui.moveTo(a.x, a.y).press().moveTo(b.x, b.y).frames(2).release();
  EXPECT_EQ(table().names[1], "the");
  EXPECT_EQ(table().names[4], "animal");
  EXPECT_EQ(ui.sequence().queries[4].text, "animal");
  EXPECT_EQ(ui.scene().cursor.cell.query, 4) << "the one that was moved is chosen";
  ui.click("embeddings.duplicate");
  EXPECT_EQ(table().values.rows(), 13);
  EXPECT_EQ(table().names[5], "animal");
  ui.click("embeddings.insert");
  EXPECT_EQ(table().names[6], "new");
  ui.click("embeddings.delete");
  EXPECT_EQ(table().values.rows(), 13);
  ui.click("embeddings.swap_back");
  expectTidy("typed embeddings");
  ui.click("embeddings.text");
  EXPECT_EQ(setup().input.source, EmbeddingSource::text);
  EXPECT_EQ(ui.sequence().queries[1].text, "animal") << "the text is as it was typed";
}

TEST_F(Embeddings, RefusesRaggedTableAndKeepsScene) {
  ui.click("embeddings.duplicate");
  const app::Scene before = ui.scene();
  ImGui::SetClipboardText("a\t1\t2\nb\t3\n");
  ui.click("embeddings.paste");
  EXPECT_TRUE(app::sameDocument(ui.scene(), before));
  expectTidy("a refused table");
  ImGui::SetClipboardText("a\t1\t0\nb\t0\t1\n");
  ui.click("embeddings.paste");
  EXPECT_EQ(table().values.rows(), 2);
  EXPECT_EQ(setup().model.modelDim, 2);
  expectTidy("a small table");
}

/// Like the button, but only on this tab and not while a text is being typed.
TEST_F(Embeddings, CtrlVPastesTable) {
  ImGui::SetClipboardText("a\t1\t0\nb\t0\t1\n");
  ui.key(app::Key::v, {.ctrl = true});
  EXPECT_EQ(setup().input.source, EmbeddingSource::table);
  EXPECT_EQ(table().values.rows(), 2);
  ui.key(app::Key::z, {.ctrl = true});
  EXPECT_EQ(setup().input.source, EmbeddingSource::text) << "and is one step";
  ImGui::SetClipboardText("a\t1\t2\nb\t3\n");
  ui.key(app::Key::v, {.ctrl = true});
  EXPECT_EQ(setup().input.source, EmbeddingSource::text);
  EXPECT_THAT(written(), testing::HasSubstr("the clipboard"));
  ImGui::SetClipboardText("a\t1\t0\nb\t0\t1\n");
  ui.click("lab.tab.ablation").click("ablation.view.patch").key(app::Key::v, {.ctrl = true});
  ui.click("patch.text").key(app::Key::v, {.ctrl = true});
  EXPECT_EQ(setup().input.source, EmbeddingSource::text) << "elsewhere it is no table";
}

TEST_F(Embeddings, ModelEmbeddingsCannotBeEdited) {
  openModel();
  EXPECT_FALSE(ui.has("embeddings.cells"));
  ASSERT_TRUE(ui.has("empty.model.leave"));
  expectTidy("a model's");
}

TEST_F(Embeddings, ManyTokensAreNotCutOff) {
  app::Scene scene = ui.scene();
  std::string text;
  for (int i = 0; i < 64; ++i) text += fmt::format("word{} ", i);
  scene.setup.input.text = text;
  ui.show(scene);
  park();
  EXPECT_THAT(cutOff(ui), IsEmpty()) << "points may lie over each other, nothing is cut off";
}

class SmallEmbeddings : public LabTabOnScreen {
 protected:
  SmallEmbeddings() : LabTabOnScreen("embeddings", 1280, 720) {}
};

TEST_F(SmallEmbeddings, FitSmallWindow) {
  expectTidy("1280 × 720");
  ui.view().preferences.light = true;
  park();
  EXPECT_THAT(faintTexts(ui), IsEmpty());
}

}  // namespace
}  // namespace headscope::test
