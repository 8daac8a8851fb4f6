// The lab's tabs in which a person changes things by hand: embeddings, heads switched off, patterns from
// another text, and what smaller formats do.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/labs/lab/head_lab.h"
#include "app/platform/ui_state.h"
#include "app/scene/open_model.h"
#include "app/scene/scene_json.h"
#include "tests/support/compare_image.h"
#include "tests/support/page_check.h"

namespace headscope::test {
namespace {

using app::EmbeddingSource;
using app::HeadOff;
using app::Key;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LabTabOnScreen : public testing::Test {
 protected:
  explicit LabTabOnScreen(const std::string& tab, int width = 1920, int height = 1080) : ui(width, height) {
    ui.key(static_cast<Key>('7'));
    ui.draw();
    ui.click("lab.tab." + tab);
    ui.draw();
  }
  const app::LabPage& page() { return ui.session().lab<app::HeadLab>().page(); }
  const app::Setup& setup() { return ui.scene().setup; }
  const attention::Table& table() { return *setup().input.table; }
  void park() {
    ui.park();
    ui.draw();
    ui.wait(0.3);
  }
  void expectTidy(const std::string& what) {
    park();
    EXPECT_THAT(overlaps(ui), IsEmpty()) << what;
    EXPECT_THAT(cutOff(ui), IsEmpty()) << what;
  }
  void openModel() {
    app::Scene scene = ui.scene();
    app::adoptModel(scene, app::kLearned, *app::openModel(app::kLearned));
    scene.setup.subject.layer = 1;
    ui.session().setScene(scene);
    ui.draw();
  }
  /// The middle of something that is tracked, without scrolling to it.
  ImVec2 middle(const std::string& name) { return ui.find(name).GetCenter(); }

  UiDriver ui;
};

class Embeddings : public LabTabOnScreen {
 protected:
  Embeddings() : LabTabOnScreen("embeddings") {}
};

TEST_F(Embeddings, ShowTheTableThePointsAndEveryHead) {
  EXPECT_TRUE(ui.has("hand.cells"));
  EXPECT_TRUE(ui.has("hand.plane"));
  EXPECT_TRUE(ui.has("hand.point.11"));
  EXPECT_TRUE(ui.has("hand.head.7"));
  expectTidy("embeddings");
  EXPECT_EQ(setup().input.source, EmbeddingSource::text) << "looking changes nothing";
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "lab_embeddings"));
  ui.view().preferences.light = true;
  park();
  EXPECT_THAT(faintTexts(ui), IsEmpty());
}

TEST_F(Embeddings, EveryHeadAnswersWhileACellIsDragged) {
  const app::Scene before = ui.scene();
  const attention::Stack weights = ui.sequence().attention.weights;
  const ImRect cells = ui.find("hand.cells");
  const float x = cells.Min.x + 5, y = cells.Min.y + 5;
  ui.moveTo(x, y);
  ui.press();
  ui.moveTo(x, y - 40);
  ui.draw();
  ASSERT_EQ(setup().input.source, EmbeddingSource::table);
  const attention::Matrix half = table().values;
  ui.moveTo(x, y - 200);
  ui.draw();
  EXPECT_EQ((table().values.array() != half.array()).count(), 1);
  EXPECT_GT(table().values.sum(), half.sum()) << "up is more";
  EXPECT_TRUE(page().snapshot->setup == setup()) << "still held, and the heads are of what it is now";
  EXPECT_EQ(setup().weights.source, before.setup.weights.source) << "planted heads stay";
  EXPECT_EQ(table().names[1], "animal");
  ui.release();
  ui.wait(0.6);
  EXPECT_EQ(setup().input.text, before.setup.input.text) << "the text stays";
  ui.chord(kCtrl, Key::z);
  ui.draw();
  EXPECT_TRUE(app::sameDocument(ui.scene(), before)) << "all of it was one step";
  EXPECT_TRUE(ui.sequence().attention.weights[0] == weights[0]);
}

TEST_F(Embeddings, ACellIsTypedAndWhatIsNoNumberIsSaid) {
  const auto type = [&](const char* text) {
    ui.doubleClick("hand.cells");
    ui.frames(2);
    ASSERT_TRUE(ui.has("hand.typed"));
    ui.chord(kCtrl, Key::a);
    ui.type(text);
    ui.key(Key::enter);
    ui.draw();
  };
  type("2.5");
  ASSERT_EQ(setup().input.source, EmbeddingSource::table);
  EXPECT_EQ((table().values.array() == 2.5f).count(), 1);
  const app::Scene before = ui.scene();
  type("much");
  EXPECT_TRUE(app::sameDocument(ui.scene(), before));
  EXPECT_FALSE(ui.has("hand.typed"));
}

TEST_F(Embeddings, APointStaysUnderThePointerAndItsTokenMoves) {
  const ImVec2 from = middle("hand.point.5");
  const attention::Stack weights = ui.sequence().attention.weights;
  ui.moveTo(from.x, from.y);
  ui.press();
  ui.moveTo(from.x + 60, from.y - 45);
  ui.draw();
  const ImVec2 now = middle("hand.point.5");
  EXPECT_NEAR(now.x, from.x + 60, 1.5f);
  EXPECT_NEAR(now.y, from.y - 45, 1.5f);
  EXPECT_TRUE(page().snapshot->setup == setup());
  EXPECT_FALSE(ui.sequence().attention.weights[6] == weights[6]);
  for (app::Index row = 0; row < 12; ++row)
    if (row != 5) {
      EXPECT_NEAR(middle(fmt::format("hand.point.{}", row)).x, middle(fmt::format("hand.point.{}", row)).x,
                  0.1f);
    }
  ui.release();
  ui.draw();
  EXPECT_TRUE(ui.has("hand.fit")) << "the components are those from before";
  ui.click("hand.fit");
  ui.draw();
  EXPECT_FALSE(ui.has("hand.fit"));
}

TEST_F(Embeddings, AnyTwoDimensionsCanBeChosen) {
  ui.choose("hand.axes", "dimensions");
  ui.draw();
  ui.choose("hand.second", "40");
  ui.draw();
  const ImVec2 from = middle("hand.point.3");
  ui.moveTo(from.x, from.y);
  ui.press();
  ui.moveTo(from.x + 10, from.y);
  ui.draw();
  ASSERT_EQ(setup().input.source, EmbeddingSource::table);
  const attention::Matrix first = table().values;
  ui.moveTo(from.x + 50, from.y);
  ui.draw();
  EXPECT_EQ((table().values.array() != first.array()).count(), 1) << "one dimension of one token";
  EXPECT_GT(table().values.row(3).sum(), first.row(3).sum());
  ui.moveTo(from.x + 50, from.y - 50);
  ui.draw();
  EXPECT_GT(table().values(3, 40), first(3, 40));
  ui.release();
  ui.draw();
  expectTidy("two dimensions");
}

TEST_F(Embeddings, ChipsSwapDuplicateInsertAndDelete) {
  const ImVec2 a = middle("hand.token.1"), b = middle("hand.token.4");
  ui.moveTo(a.x, a.y);
  ui.press();
  ui.moveTo(b.x, b.y);
  ui.frames(2);
  ui.release();
  ui.draw();
  EXPECT_EQ(table().names[1], "the");
  EXPECT_EQ(table().names[4], "animal");
  EXPECT_EQ(ui.sequence().queries[4].text, "animal");
  EXPECT_EQ(ui.scene().cursor.cell.query, 4) << "the one that was moved is chosen";
  ui.click("hand.duplicate");
  ui.draw();
  EXPECT_EQ(table().values.rows(), 13);
  EXPECT_EQ(table().names[5], "animal");
  ui.click("hand.insert");
  ui.draw();
  EXPECT_EQ(table().names[6], "new");
  ui.click("hand.delete");
  ui.draw();
  EXPECT_EQ(table().values.rows(), 13);
  ui.click("hand.swap_back");
  ui.draw();
  expectTidy("typed embeddings");
  ui.click("hand.text");
  ui.draw();
  EXPECT_EQ(setup().input.source, EmbeddingSource::text);
  EXPECT_EQ(ui.sequence().queries[1].text, "animal") << "the text is as it was typed";
}

TEST_F(Embeddings, ARaggedTableIsRefusedAndNothingIsLost) {
  ui.click("hand.duplicate");
  ui.draw();
  const app::Scene before = ui.scene();
  ImGui::SetClipboardText("a\t1\t2\nb\t3\n");
  ui.click("hand.paste");
  ui.draw();
  EXPECT_TRUE(app::sameDocument(ui.scene(), before));
  expectTidy("a refused table");
  ImGui::SetClipboardText("a\t1\t0\nb\t0\t1\n");
  ui.click("hand.paste");
  ui.draw();
  EXPECT_EQ(table().values.rows(), 2);
  EXPECT_EQ(setup().model.modelDim, 2);
  expectTidy("a small table");
}

TEST_F(Embeddings, OfAModelAreItsOwn) {
  openModel();
  EXPECT_FALSE(ui.has("hand.cells"));
  ASSERT_TRUE(ui.has("empty.model.leave"));
  expectTidy("a model's");
}

TEST_F(Embeddings, ManyTokensKeepTheirPlace) {
  app::Scene scene = ui.scene();
  std::string text;
  for (int i = 0; i < 64; ++i) text += fmt::format("word{} ", i);
  scene.setup.input.text = text;
  ui.session().setScene(scene);
  ui.draw();
  park();
  EXPECT_THAT(cutOff(ui), IsEmpty()) << "points may lie over each other, nothing is cut off";
}

class SmallEmbeddings : public LabTabOnScreen {
 protected:
  SmallEmbeddings() : LabTabOnScreen("embeddings", 1280, 720) {}
};

TEST_F(SmallEmbeddings, HaveRoom) {
  expectTidy("1280 × 720");
  ui.view().preferences.light = true;
  park();
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "lab_embeddings_720_light"));
}

class Ablation : public LabTabOnScreen {
 protected:
  Ablation() : LabTabOnScreen("ablation") {}
  std::vector<app::Index> off() {
    std::vector<app::Index> heads;
    for (const app::SwitchedHead& one : setup().subject.switchedOff) heads.push_back(one.head);
    return heads;
  }
};

TEST_F(Ablation, BoxesSwitchHeadsOffAndOnWithTheSameBits) {
  expectTidy("heads off");
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "lab_ablation"));
  const attention::Matrix before = ui.sequence().attention.output;
  ui.click("ablation.box.2");
  ui.draw();
  EXPECT_THAT(off(), ElementsAre(2));
  EXPECT_FALSE(ui.sequence().attention.output == before);
  expectTidy("one head off");
  ui.click("ablation.box.5");
  ui.choose("ablation.by", "mean");
  ui.draw();
  EXPECT_THAT(off(), ElementsAre(2, 5));
  EXPECT_EQ(setup().subject.switchedOff[0].by, HeadOff::mean);
  ui.click("ablation.restore");
  ui.draw();
  EXPECT_THAT(off(), IsEmpty());
  EXPECT_TRUE(ui.sequence().attention.output == before) << "the same bits";
}

TEST_F(Ablation, DeleteSwitchesThePointedAtHead) {
  ui.hoverAt("stage.ablation", 0.5f, 4.5f / 8);
  ui.frames(3);
  ui.key(Key::del);
  ui.draw();
  EXPECT_THAT(off(), ElementsAre(4));
  ui.hoverAt("stage.ablation", 0.5f, 4.5f / 9);
  ui.frames(3);
  ui.key(Key::del);
  ui.draw();
  EXPECT_THAT(off(), IsEmpty());
}

TEST_F(Ablation, DeleteIsInTheSheetOfKeys) {
  const auto& actions = ui.session().actions().all();
  const auto found = std::find_if(actions.begin(), actions.end(), [](const app::Action& action) {
    return action.page == "lab" && action.shortcut == app::KeyPress{Key::del, {}};
  });
  ASSERT_NE(found, actions.end());
  ui.click("lab.tab.pipeline");
  ui.draw();
  ui.key(Key::del);
  ui.draw();
  EXPECT_THAT(off(), IsEmpty()) << "where no head is pointed at for that, it does nothing";
}

TEST_F(Ablation, WhatIsLookedAtStaysWithTheScene) {
  ui.choose("ablation.measure", "cosine");
  ui.choose("ablation.by", "mean");
  ui.click("ablation.room.patch");
  ui.draw();
  ui.replaceText("patch.text", "A dog saw a cat because it was a good dog .");
  ui.draw();
  const app::LabCursor at = ui.scene().cursor.lab;
  EXPECT_EQ(at.room, app::AblationRoom::patch);
  EXPECT_EQ(at.measure, app::AblationMeasure::cosine);
  EXPECT_EQ(at.offBy, HeadOff::mean);
  EXPECT_EQ(at.patchText, "A dog saw a cat because it was a good dog .");
  const auto again = app::parseScene(ui.sceneText(), "");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->cursor.lab, at);
}

TEST_F(Ablation, TheHeadsPageMarksThoseThatAreOff) {
  ui.click("ablation.box.2");
  ui.draw();
  ui.key(static_cast<Key>('1'));
  ui.draw();
  park();
  app::uiState().watches = true;
  ui.screenshot();
  std::string texts;
  for (const app::DrawnText& text : app::uiState().texts) texts += text.text + "\n";
  EXPECT_THAT(texts, testing::HasSubstr("off"));
  EXPECT_THAT(texts, testing::HasSubstr("1 head"));
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
}

TEST_F(Ablation, SharesAreShownAsCosinesToo) {
  ui.choose("ablation.measure", "cosine");
  ui.draw();
  expectTidy("cosine");
  ui.hover("ablation.sum.3");
  ui.frames(3);
}

TEST_F(Ablation, TheOutputLiesInTheHull) {
  ui.click("ablation.room.hull");
  ui.draw();
  EXPECT_TRUE(ui.has("hull.output"));
  EXPECT_TRUE(ui.has("hull.value.11"));
  park();
  EXPECT_THAT(cutOff(ui), IsEmpty());
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "lab_hull"));
}

TEST_F(Ablation, APatternIsTakenFromAnotherText) {
  ui.choose("lab.head", "6");
  ui.click("ablation.room.patch");
  ui.draw();
  ui.replaceText("patch.text", "A dog saw a cat because it was a good dog .");
  ui.draw();
  EXPECT_TRUE(ui.has("stage.patch.other"));
  EXPECT_TRUE(ui.has("patch.change.11"));
  expectTidy("patching");
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "lab_patching"));
  ui.replaceText("patch.text", "too short");
  ui.draw();
  expectTidy("another number of tokens");
}

TEST_F(Ablation, AModelsGuessesFollow) {
  openModel();
  for (int i = 0; i < 12; ++i) ui.draw();
  EXPECT_TRUE(ui.has("ablation.loss.3"));
  ui.click("ablation.box.1");
  for (int i = 0; i < 4; ++i) ui.draw();
  EXPECT_EQ(setup().subject.switchedOff.front().layer, 1);
  expectTidy("a model's layer");
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "lab_ablation_model"));
}

class SmallAblation : public LabTabOnScreen {
 protected:
  SmallAblation() : LabTabOnScreen("ablation", 1280, 720) {}
};

TEST_F(SmallAblation, HasRoom) {
  expectTidy("heads off");
  ui.click("ablation.room.hull");
  ui.draw();
  park();
  EXPECT_THAT(cutOff(ui), IsEmpty());
  ui.click("ablation.room.patch");
  ui.draw();
  ui.replaceText("patch.text", "A bird can sing the song because he was so glad .");
  ui.draw();
  expectTidy("patching");
}

class Precision : public LabTabOnScreen {
 protected:
  Precision() : LabTabOnScreen("precision") {}
};

TEST_F(Precision, IsShownPerHeadAndFormat) {
  EXPECT_TRUE(ui.has("precision.fp16.7"));
  EXPECT_TRUE(ui.has("precision.row.7"));
  expectTidy("fp16");
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "lab_precision"));
  ui.click("precision.format.bf16");
  ui.draw();
  EXPECT_TRUE(ui.has("precision.bf16.7"));
  openModel();
  expectTidy("a model's layer");
}

class SmallPrecision : public LabTabOnScreen {
 protected:
  SmallPrecision() : LabTabOnScreen("precision", 1280, 720) {}
};

TEST_F(SmallPrecision, HasRoom) {
  expectTidy("1280 × 720");
}

}  // namespace
}  // namespace headscope::test
