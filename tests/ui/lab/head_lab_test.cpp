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
using Step = app::PipelineStep;

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

TEST_F(LabOnScreen, OpensAtDotProductOfSelectedHead) {
  EXPECT_EQ(ui.scene().cursor.page, "lab");
  ASSERT_TRUE(page().head);
  EXPECT_EQ(at().step, Step::dot);
  EXPECT_EQ(page().head->question.head, ui.scene().cursor.cell.head);
  park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

/// A page that is left releases its pictures only after they have been drawn.
TEST_F(LabOnScreen, ResetReturnsToOpeningScene) {
  for (const char* tab : {"pipeline", "weights", "embeddings", "ablation", "detectors", "views"}) {
    ui.key(static_cast<Key>('8'));
    ui.session().scene().cursor.lab.tab = tab;
    ui.frames(3).draw().key(Key::n, {.ctrl = true}).frames(3);
    EXPECT_EQ(ui.scene().cursor.page, "heads") << tab;
  }
}

/// Every page can be drawn, whatever range the colours have.
TEST_F(LabOnScreen, EveryColourRangeCanBeDrawnOnEveryPage) {
  ui.key(static_cast<Key>('7')).click("empty.model.learned");
  for (const char* tab : {"pipeline", "embeddings", "detectors", "views"})
    for (const auto range :
         {app::RangeMode::perHead, app::RangeMode::shared, app::RangeMode::unit, app::RangeMode::logarithmic})
      for (const char page : {'1', '3', '5', '7', '8'}) {
        ui.session().scene().look.range = range;
        ui.session().scene().cursor.lab.tab = tab;
        ui.key(static_cast<Key>(page));
        EXPECT_NO_THROW(ui.draw()) << tab << " " << page;
      }
}

TEST_F(LabOnScreen, ArrowKeysVisitEveryStep) {
  ui.key(Key::home);
  EXPECT_EQ(at().step, Step::input);
  const std::vector<Step> steps = app::head_lab_page::stepsOf(page());
  EXPECT_EQ(std::count(steps.begin(), steps.end(), Step::bias), 0) << "nothing is added to the scores";
  for (const Step step : steps) {
    EXPECT_EQ(at().step, step);
    park();
    EXPECT_THAT(overlaps(ui), IsEmpty()) << app::head_lab_page::stepTitle(page(), step);
    EXPECT_THAT(cutOff(ui), IsEmpty()) << app::head_lab_page::stepTitle(page(), step);
    ui.key(Key::right);
  }
  EXPECT_EQ(at().step, Step::output) << "and stays at the last";
  ui.key(Key::left);
  EXPECT_EQ(at().step, Step::concat);
}

TEST_F(LabOnScreen, BiasHasItsOwnStep) {
  ui.session().scene().setup.model.position = app::PositionKind::alibi;
  ui.draw();
  const std::vector<Step> steps = app::head_lab_page::stepsOf(page());
  EXPECT_EQ(std::count(steps.begin(), steps.end(), Step::bias), 1);
  EXPECT_EQ(app::head_lab_page::stepTitle(page(), Step::bias), "+ ALiBi");
}

TEST_F(LabOnScreen, ClickSelectsFramesAndCells) {
  ui.click("film.7");
  EXPECT_EQ(at().step, Step::softmax);
  ui.clickAt("stage.after", 2.5f / 12, 4.5f / 12);
  EXPECT_EQ(ui.scene().cursor.cell.query, 4);
  EXPECT_EQ(ui.scene().cursor.cell.key, 2);
  ui.click("lab.next");
  EXPECT_EQ(at().step, Step::mix);
  ui.clickAt("stage.mix", 3.5f / 32, 0.5f / 12);
  EXPECT_EQ(page().dim, 3);
  EXPECT_EQ(ui.scene().cursor.cell.query, 0);
}

TEST_F(LabOnScreen, ClickOnSelectedCellLetsItGo) {
  ui.click("film.7").clickAt("stage.after", 1.5f / 12, 4.5f / 12);
  ASSERT_NE(strongest(4), 1);
  EXPECT_EQ(cursor().cell, (app::Cell{0, 4, 1}));
  EXPECT_TRUE(cursor().keyChosen);
  ui.clickAt("stage.before", 1.5f / 12, 4.5f / 12);
  EXPECT_FALSE(cursor().keyChosen);
  EXPECT_EQ(cursor().cell, (app::Cell{0, 4, strongest(4)}));
}

TEST_F(LabOnScreen, ClickOnSelectedNumberLetsItGo) {
  ui.click("film.8").clickAt("stage.mix", 3.5f / 32, 0.5f / 12);
  EXPECT_EQ(page().dim, 3);
  EXPECT_FALSE(cursor().keyChosen) << "only a query and a dimension were chosen";
  ui.clickAt("stage.mix", 3.5f / 32, 0.5f / 12);
  EXPECT_EQ(page().dim, -1);
  EXPECT_EQ(cursor().cell.query, 0);
  ui.click("film.2").click("lab.map.K").clickAt("stage.project", 3.5f / 32, 2.5f / 12);
  EXPECT_EQ(page().dim, 3);
  EXPECT_EQ(cursor().cell.key, 2);
  EXPECT_TRUE(cursor().keyChosen);
  ui.clickAt("stage.project", 4.5f / 32, 2.5f / 12);
  EXPECT_EQ(page().dim, 4);
  EXPECT_TRUE(cursor().keyChosen) << "another number of the same key";
  ui.clickAt("stage.project", 4.5f / 32, 2.5f / 12);
  EXPECT_EQ(page().dim, -1);
  EXPECT_FALSE(cursor().keyChosen);
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
  ui.click("film.3").click("group.6");
  EXPECT_EQ(page().head->question.head, 6);
}

TEST_F(LabOnScreen, PlayRunsToTheEnd) {
  ui.click("film.8").key(Key::space).wait(1.6);
  EXPECT_EQ(at().step, Step::concat);
  ui.wait(2);
  EXPECT_EQ(at().step, Step::output);
  EXPECT_FALSE(page().playing);
}

TEST_F(LabOnScreen, HoveringProductHighlightsIt) {
  ui.hover("sum.2").frames(3);
  EXPECT_GE(page().hover.term, 0);
  ui.park().frames(3);
  EXPECT_EQ(page().hover.term, -1);
}

TEST_F(LabOnScreen, ShowsStepsForModelLayer) {
  const auto opened = app::openModel(app::kLearned);
  ASSERT_TRUE(opened.ok());
  app::Scene scene = ui.scene();
  app::adoptModel(scene, app::kLearned, *opened);
  scene.setup.subject.layer = 1;
  scene.cursor.page = "lab";
  ui.show(scene);
  ASSERT_TRUE(page().head) << page().problem();
  EXPECT_EQ(page().layer->x.cols(), 96);
  for (const char* frame : {"film.1", "film.2", "film.3", "film.10"}) {
    ui.click(frame);
    park();
    EXPECT_THAT(overlaps(ui), IsEmpty()) << frame;
  }
}

TEST_F(LabOnScreen, OffersSampleTextWithoutTokens) {
  ui.session().scene().setup.input.text = std::string();
  ui.draw();
  ASSERT_TRUE(ui.has("empty.input.sample"));
  ui.click("empty.input.sample");
  EXPECT_TRUE(page().head);
}

TEST_F(SmallLab, EveryStepFits) {
  ui.key(Key::home);
  for (const Step step : app::head_lab_page::stepsOf(page())) {
    park();
    EXPECT_THAT(overlaps(ui), IsEmpty()) << app::head_lab_page::stepTitle(page(), step);
    EXPECT_THAT(cutOff(ui), IsEmpty()) << app::head_lab_page::stepTitle(page(), step);
    EXPECT_THAT(faintTexts(ui), IsEmpty()) << app::head_lab_page::stepTitle(page(), step);
    ui.key(Key::right);
  }
}

TEST_F(SmallLab, ManyHeadsAndLongTextFit) {
  ui.show(crowdedScene(ui.scene())).key(Key::home);
  for (const Step step : app::head_lab_page::stepsOf(page())) {
    park();
    EXPECT_THAT(overlaps(ui), IsEmpty()) << app::head_lab_page::stepTitle(page(), step);
    EXPECT_THAT(cutOff(ui), IsEmpty()) << app::head_lab_page::stepTitle(page(), step);
    ui.key(Key::right);
  }
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
  ui.click("lab.tab.pipeline").click("film.9");
  EXPECT_EQ(at().step, Step::concat) << "what is clicked is in the scene";
  app::Scene other = ui.scene();
  other.cursor.lab.tab = "elsewhere";
  EXPECT_THAT(app::checkPage(other, app::pageTable()).error().message,
              testing::StartsWith("cursor.lab.tab is \"elsewhere\", expected pipeline, "));
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
