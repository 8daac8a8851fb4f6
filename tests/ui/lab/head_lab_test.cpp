// The head lab: one head of a layer taken apart, step by step.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/pages/pages.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/scene_json.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"

namespace headscope::test {
namespace {

using app::Key;

class LabOnScreen : public testing::Test {
 protected:
  explicit LabOnScreen(int width = 1920, int height = 1080) : ui(width, height) {
    ui.key(static_cast<Key>('8'));
  }
  const app::head_lab_page::State& page() { return ui.session().page<app::head_lab_page::Page>().state(); }
  const app::HeadLabCursor& at() { return ui.scene().cursor.lab; }
  void park() { ui.park().wait(0.3); }
  const app::Cursor& cursor() { return ui.scene().cursor; }
  /// The key with the largest weight of head 0's row.
  app::Index strongest(app::Index query) {
    app::Index key = 0;
    ui.sequence().probabilities()[0].row(query).maxCoeff(&key);
    return key;
  }

  UiDriver ui;
};

class SmallLab : public LabOnScreen {
 protected:
  SmallLab() : LabOnScreen(1280, 720) {}
};

TEST_F(SmallLab, SaysBelowTheTabsWhatEachIsFor) {
  for (const app::head_lab_page::TabRow& row : app::head_lab_page::tabTable()) {
    ui.session().scene().cursor.lab.tab = row.key;
    ui.draw();
    EXPECT_TRUE(ui.has("lab.about")) << row.key;
    EXPECT_LE(app::textWidth(ui.view().fonts->text, row.about), ui.find("lab.about").GetWidth()) << row.about;
  }
  ui.view().present = true;
  ui.draw();
  EXPECT_FALSE(ui.has("lab.about")) << "the stage has a sentence of its own";
}

/// A page that is left releases its pictures only after they have been drawn.
TEST_F(LabOnScreen, ResetReturnsToOpeningScene) {
  for (const char* tab : {"weights", "embeddings", "ablation", "detectors", "views"}) {
    ui.key(static_cast<Key>('8'));
    ui.session().scene().cursor.lab.tab = tab;
    ui.frames(3).draw().key(Key::n, {.ctrl = true}).frames(3);
    EXPECT_EQ(ui.scene().cursor.page, "heads") << tab;
  }
}

/// Every page can be drawn, whatever range the colours have.
TEST_F(LabOnScreen, EveryColourRangeCanBeDrawnOnEveryPage) {
  ui.key(static_cast<Key>('7')).click("empty.model.learned");
  for (const char* tab : {"embeddings", "detectors", "views"})
    for (const auto range :
         {app::RangeMode::perHead, app::RangeMode::shared, app::RangeMode::unit, app::RangeMode::logarithmic})
      for (const char page : {'1', '3', '5', '7', '8'}) {
        ui.session().scene().look.range = range;
        ui.session().scene().cursor.lab.tab = tab;
        ui.key(static_cast<Key>(page));
        EXPECT_NO_THROW(ui.draw()) << tab << " " << page;
      }
}

TEST_F(LabOnScreen, ShowsTheSelectedHead) {
  EXPECT_EQ(ui.scene().cursor.page, "lab");
  EXPECT_EQ(at().tab, "weights") << "the first";
  ASSERT_TRUE(page().head);
  EXPECT_EQ(page().head->question.head, ui.scene().cursor.cell.head);
  park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(LabOnScreen, ClickOnSelectedCellLetsItGo) {
  ui.click("lab.tab.views").click("views.weights").clickAt("stage.views.map", 1.5f / 12, 4.5f / 12);
  ASSERT_NE(strongest(4), 1);
  EXPECT_EQ(cursor().cell, (app::Cell{0, 4, 1}));
  EXPECT_TRUE(cursor().keyChosen);
  ui.clickAt("stage.views.map", 1.5f / 12, 4.5f / 12);
  EXPECT_FALSE(cursor().keyChosen);
  EXPECT_EQ(cursor().cell, (app::Cell{0, 4, strongest(4)}));
}

TEST_F(LabOnScreen, KeysMoveCellAndHead) {
  const app::Cell before = ui.scene().cursor.cell;
  ui.key(Key::down);
  EXPECT_EQ(ui.scene().cursor.cell.query, before.query + 1);
  EXPECT_EQ(ui.scene().cursor.cell.key, strongest(before.query + 1)) << "nobody chose a key";
  ui.chord({.shift = true}, Key::left);
  EXPECT_EQ(ui.scene().cursor.cell.key, strongest(before.query + 1) - 1);
  ui.key(Key::up);
  EXPECT_EQ(ui.scene().cursor.cell.key, strongest(before.query + 1) - 1) << "a chosen key stays";
  ui.key(Key::pageDown);
  EXPECT_EQ(page().head->question.head, before.head + 1);
}

TEST_F(LabOnScreen, TakesAModelsLayerApart) {
  const auto opened = app::openModel(app::kLearned);
  ASSERT_TRUE(opened.ok());
  app::Scene scene = ui.scene();
  app::adoptModel(scene, app::kLearned, *opened);
  scene.setup.subject.layer = 1;
  scene.cursor.page = "lab";
  ui.show(scene);
  ASSERT_TRUE(page().head) << page().problem();
  EXPECT_EQ(page().layer->x.cols(), 96);
  park();
  EXPECT_THAT(overlaps(ui), IsEmpty());
}

TEST_F(LabOnScreen, OffersSampleTextWithoutTokens) {
  ui.session().scene().setup.input.text = std::string();
  ui.draw();
  ASSERT_TRUE(ui.has("empty.input.sample"));
  ui.click("empty.input.sample");
  EXPECT_TRUE(page().head);
}

TEST_F(LabOnScreen, WeightsTabShowsRanks) {
  ui.click("lab.tab.weights");
  ASSERT_TRUE(page().weights);
  EXPECT_LE(page().weights->matchSpectrum.rank, 32);
  EXPECT_GT(page().weights->writeSpectrum.rank, 0);
  EXPECT_TRUE(ui.has("weights.W_Q·W_Kᵀ"));
  park();
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
  EXPECT_THAT(faintTexts(ui), IsEmpty());
  EXPECT_TRUE(imagesMatch(ui.screenshot("weights.W_Q·W_Kᵀ"), "lab_weights"));
  ui.key(Key::pageDown);
  EXPECT_EQ(page().weights->question->question.head, 1) << "and follows the head";
}

TEST_F(SmallLab, EveryTabScrollsInLowWindows) {
  ui.resize(640, 400);
  for (const char* tab :
       {"weights", "views", "head_count", "embeddings", "ablation", "detectors", "mistakes"}) {
    ui.session().scene().cursor.lab.tab = tab;
    ui.draw().moveTo(320, 300).frames(2);
    const ImGuiWindow* const panel = ImGui::GetCurrentContext()->HoveredWindow;
    ASSERT_TRUE(panel) << tab;
    const ImGuiWindow* scrolls = panel;
    while (scrolls && scrolls->ScrollMax.y <= 0) scrolls = scrolls->ParentWindow;
    if (!scrolls) {
      EXPECT_THAT(cutOff(ui), testing::IsEmpty()) << tab << " doesn't scroll, so all of it has to fit";
      continue;
    }
    EXPECT_FALSE(scrolls->Flags & ImGuiWindowFlags_NoScrollWithMouse) << tab;
  }
}

TEST_F(SmallLab, WeightsFit) {
  ui.click("lab.tab.weights");
  park();
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
}

class WrongOnScreen : public LabOnScreen {
 protected:
  WrongOnScreen() { ui.click("lab.tab.mistakes"); }
};

TEST_F(WrongOnScreen, ShowsBothResultsAndTheFix) {
  ASSERT_TRUE(page().study);
  EXPECT_TRUE(ui.has("stage.wrong"));
  EXPECT_TRUE(ui.has("stage.right"));
  EXPECT_TRUE(ui.has("wrong.fix"));
  park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(WrongOnScreen, ArrowKeysVisitAllMistakesAndEachFits) {
  for (const attention::MistakeInfo& info : attention::mistakes()) {
    ui.draw();
    ASSERT_TRUE(page().study);
    EXPECT_EQ(page().study->question.mistake, info.mistake);
    EXPECT_EQ(page().study->result.same, "") << info.key;
    EXPECT_EQ(ui.has("stage.wrong"), !page().study->result.clash) << info.key;
    park();
    EXPECT_THAT(overlaps(ui), IsEmpty()) << info.key;
    EXPECT_THAT(cutOff(ui), IsEmpty()) << info.key;
    if (page().study->result.clash) {
      EXPECT_THAT(faintTexts(ui), IsEmpty()) << info.key;
    }
    ui.key(Key::right);
  }
  ui.key(Key::home);
  EXPECT_EQ(at().mistake, attention::Mistake::noScale);
}

TEST_F(WrongOnScreen, CurveHandlesSelectHeadDimension) {
  ui.dragAcross("wrong.curve", {0.97f, 0.5f}, {0.05f, 0.5f});
  EXPECT_EQ(at().mistakeDim, 8);
  EXPECT_EQ(page().study->headDim, 8);
  ui.dragAcross("wrong.entropy", {0.05f, 0.5f}, {0.97f, 0.5f});
  EXPECT_EQ(page().study->headDim, 512) << "the entropy has a curve of its own";
}

TEST_F(SmallLab, ShowsOneCurveAtATime) {
  ui.click("lab.tab.mistakes");
  EXPECT_TRUE(ui.has("wrong.curve"));
  ui.click("wrong.shown.entropy");
  EXPECT_TRUE(ui.has("wrong.entropy"));
  EXPECT_FALSE(ui.has("wrong.curve"));
  park();
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
}

TEST_F(WrongOnScreen, MistakeWithoutEffectOffersAnotherExample) {
  ui.choose("wrong.subject", "layer");
  EXPECT_EQ(page().study->headDim, 32);
  EXPECT_EQ(page().study->result.same, "");
  ui.click("mistake.padding_seen");
  EXPECT_EQ(page().study->result.same, "no padding");
  park();
  EXPECT_THAT(overlaps(ui), IsEmpty());
  ui.click("wrong.show");
  EXPECT_EQ(page().study->result.same, "");
}

TEST_F(SmallLab, MistakesBecomeDropdownBesideTabs) {
  ui.click("lab.tab.mistakes");
  EXPECT_FALSE(ui.has("mistake.no_scale"));
  ui.choose("wrong.mistake", "kv_tiled");
  EXPECT_EQ(page().study->question.mistake, attention::Mistake::kvTiled);
  park();
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
}

TEST_F(LabOnScreen, SceneFileRestoresLabState) {
  for (const app::head_lab_page::TabRow& row : app::head_lab_page::tabTable()) {
    const std::string name(row.key);
    ui.session().scene().cursor.lab = {};
    ui.session().scene().cursor.lab.tab = name;
    ui.draw();
    park();
    EXPECT_THAT(overlaps(ui), IsEmpty()) << name;
    EXPECT_NO_THROW(ui.session().actions().find("lab." + name));
  }
  const auto scene = app::parseScene(R"({"format": "headscope scene", "version": 2, "cursor": {"page": "lab",
      "lab": {"tab": "wrong", "mistake": "kv_tiled", "subject": "layer"}}})",
                                     "the lesson");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  ui.show(*scene);
  ASSERT_TRUE(page().study);
  EXPECT_EQ(page().study->question.mistake, attention::Mistake::kvTiled);
  EXPECT_TRUE(page().study->question.snapshot) << "made on the scene's layer";
  app::Scene other = ui.scene();
  other.cursor.lab.tab = "elsewhere";
  EXPECT_THAT(app::checkPage(other, app::pageTable()).error().message,
              testing::StartsWith("cursor.lab.tab is \"elsewhere\", expected weights, "));
}

TEST(LabCursorNames, MistakeNamesMatchTheirKeys) {
  const auto all = attention::mistakes();
  ASSERT_EQ(all.size(), app::kMistakeNames.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].mistake, static_cast<attention::Mistake>(i));
    EXPECT_EQ(all[i].key, app::kMistakeNames[i]);
  }
}

}  // namespace
}  // namespace headscope::test
