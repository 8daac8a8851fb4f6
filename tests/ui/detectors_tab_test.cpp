// The head lab's tabs Detectors, Views and One or many.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/pages/head_lab/tabs/head_tabs.h"
#include "app/platform/ui_state.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/text/number_text.h"
#include "attention/heads/head_views.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;

class TabOnScreen : public testing::Test {
 protected:
  explicit TabOnScreen(const char* tab, int width = 1920, int height = 1080) : ui(width, height), tab_(tab) {
    ui.key(static_cast<Key>('8')).click(std::string("lab.tab.") + tab);
  }
  const app::head_lab_page::Page& lab() { return ui.session().page<app::head_lab_page::Page>(); }
  app::HeadLabCursor& at() { return ui.session().scene().cursor.lab; }
  void park() { ui.park().wait(0.3); }
  /// All texts on the page, one per line.
  std::string written() {
    app::uiState().watches = true;
    ui.screenshot();
    std::string texts;
    for (const app::DrawnText& text : app::uiState().texts) texts += text.text + "\n";
    return texts;
  }
  std::string caption() {
    std::string text;
    for (const app::CaptionPart& part : lab().caption(ui.scene())) text += part.text;
    return text;
  }
  void expectRoom(const std::string& what) {
    park();
    EXPECT_THAT(overlaps(ui), IsEmpty()) << what;
    EXPECT_THAT(cutOff(ui), IsEmpty()) << what;
    EXPECT_THAT(faintTexts(ui), IsEmpty()) << what;
  }
  /// Opens a layer of the bundled model.
  void openLearned(Index layer) {
    const auto opened = app::openModel(app::kLearned);
    ASSERT_TRUE(opened.ok());
    app::Scene scene = ui.scene();
    app::adoptModel(scene, app::kLearned, *opened);
    scene.setup.subject.layer = layer;
    scene.cursor.page = "lab";
    scene.cursor.lab.tab = tab_;
    ui.show(scene);
  }

  UiDriver ui;
  std::string tab_;
};

class DetectorsOnScreen : public TabOnScreen {
 protected:
  explicit DetectorsOnScreen(int width = 1920, int height = 1080) : TabOnScreen("detectors", width, height) {}
  const app::head_lab_page::DetectorsTab& tab() { return lab().tab<app::head_lab_page::DetectorsTab>(); }
  std::vector<Index> rows() { return tab().rows(ui.scene()); }
  const attention::HeadProfile& profile(Index head) {
    return tab().study()->profiles[static_cast<std::size_t>(head)];
  }
  std::string label(Index head) {
    return describe(attention::labelHead(profile(head), ui.scene().look.labelThreshold));
  }
};

class SmallDetectors : public DetectorsOnScreen {
 protected:
  SmallDetectors() : DetectorsOnScreen(1280, 720) {}
};

TEST_F(DetectorsOnScreen, ShowsEveryScoreOfEveryHead) {
  ASSERT_TRUE(tab().study());
  EXPECT_THAT(rows(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  for (const attention::Detector* detector : attention::allDetectors())
    EXPECT_EQ(ui.has("detect.column." + std::string(detector->name)),
              detector->name != "next" && detector->name != "copying")
        << detector->name << ": under a causal mask no row sees the next token, and there is no vocabulary";
  EXPECT_EQ(label(0), "previous token");
  EXPECT_EQ(label(1), "first token");
  EXPECT_EQ(label(4), "2 back");
  EXPECT_EQ(profile(0)["vo_eigenvalues"].rows, 1) << "the head's maps are judged too";
  expectRoom("opening scene");
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
}

TEST_F(DetectorsOnScreen, UpdatesScoresWhenTextChanges) {
  const float before = profile(6)["same_token"].raw;
  ui.session().scene().setup.input.text = "a b c a b c a b c";
  ui.draw();
  EXPECT_EQ(tab().study()->question.layer->sequence().queries.size(), 9u);
  EXPECT_NE(profile(6)["same_token"].raw, before);
}

TEST_F(DetectorsOnScreen, ColumnSortsAndThresholdLabelsAndFilters) {
  ui.click("detect.column.first_token");
  EXPECT_EQ(at().detector, "first_token");
  EXPECT_EQ(rows().front(), 1);
  ui.click("detect.only");
  EXPECT_THAT(rows(), Contains(1));
  EXPECT_LT(rows().size(), 8u);
  ui.session().scene().look.labelThreshold = 0.99f;
  ui.draw();
  EXPECT_THAT(rows(), IsEmpty());
  EXPECT_EQ(label(0), "mixed");
  expectRoom("no head is left");
  ui.key(static_cast<Key>('1'));
  EXPECT_EQ(describe(ui.sequence().label(0, ui.scene().look.labelThreshold)), "mixed");
  ui.key(static_cast<Key>('8')).click("detect.column.first_token");
  EXPECT_EQ(at().detector, "") << "a second click takes it back";
}

TEST_F(DetectorsOnScreen, HoveringAScoreMarksItsCells) {
  ui.hover("detect.4.previous").frames(4).draw();
  ASSERT_TRUE(tab().targets());
  ASSERT_TRUE(tab().targets()->question.detector);
  EXPECT_EQ(tab().targets()->question.detector->name, "previous");
  EXPECT_THAT(tab().targets()->counted[5], ElementsAre(4));
  EXPECT_THAT(tab().targets()->counted[0], IsEmpty());
  ui.click("detect.2.previous");
  EXPECT_EQ(ui.scene().cursor.cell.head, 2);
  EXPECT_EQ(at().detector, "previous");
}

TEST_F(DetectorsOnScreen, HoveredScoreIsOnlyPreviewed) {
  park();
  const app::Cursor before = ui.scene().cursor;
  const std::string said = caption(), selected = written();
  ASSERT_THAT(selected, Not(HasSubstr("\nhover\n")));
  ui.hover("detect.4.previous").frames(4).draw();
  EXPECT_EQ(tab().targets()->question.head, 4);
  EXPECT_THAT(written(), HasSubstr("\nHead 4\nhover\n"));
  EXPECT_EQ(caption(), said);
  EXPECT_EQ(ui.scene().cursor, before);
  park();
  EXPECT_EQ(tab().targets()->question.head, before.cell.head);
  EXPECT_EQ(written(), selected);
}

TEST_F(DetectorsOnScreen, ClickInMapSelectsCellOrLetsItGo) {
  ui.clickAt("stage.detect.map", 0.5f / 12, 11.5f / 12);
  EXPECT_EQ(ui.scene().cursor.cell, (app::Cell{0, 11, 0}));
  EXPECT_TRUE(ui.scene().cursor.keyChosen);
  ui.clickAt("stage.detect.map", 0.5f / 12, 11.5f / 12);
  EXPECT_FALSE(ui.scene().cursor.keyChosen);
}

TEST_F(DetectorsOnScreen, LikenessOrderGroupsSimilarHeads) {
  ui.session().scene().setup.weights.planted = {
      {attention::Behaviour::offset, 1}, {attention::Behaviour::firstToken},
      {attention::Behaviour::offset, 1}, {attention::Behaviour::firstToken},
      {attention::Behaviour::offset, 1}, {attention::Behaviour::firstToken},
      {attention::Behaviour::offset, 1}, {attention::Behaviour::firstToken}};
  at().order = app::HeadOrder::likeness;
  for (const app::Similarity likeness : {app::Similarity::cosine, app::Similarity::jensenShannon}) {
    at().likeness = likeness;
    ui.draw();
    const std::vector<Index> order = rows();
    int changes = 0;
    for (std::size_t i = 1; i < order.size(); ++i) changes += order[i] % 2 != order[i - 1] % 2;
    EXPECT_EQ(changes, 1) << "first the one family, then the other";
  }
  EXPECT_TRUE(ui.has("detect.likeness_map"));
}

TEST_F(DetectorsOnScreen, DetectorInputCanBeChosen) {
  at().reads = app::HeadPicture::firstOut;
  ui.draw();
  EXPECT_EQ(tab().study()->question.reads, app::HeadPicture::firstOut);
  EXPECT_EQ(profile(1)["first_token"].raw, 0);
  at().reads = app::HeadPicture::valueWeighted;
  at().aboveEven = true;
  ui.draw();
  EXPECT_GT(profile(0)["previous"].raw, 0.5f);
  expectRoom("value-weighted, above even");
}

TEST_F(DetectorsOnScreen, DetectsPreviousTokenAndInductionInBundledModel) {
  ui.session().scene().setup.input.text =
      "Mia lost her ring in the garden . Then she found the ring in the garden .";
  openLearned(0);
  ASSERT_TRUE(tab().study());
  EXPECT_EQ(rows().size(), 6u);
  std::vector<std::string> first, second;
  for (Index head = 0; head < 6; ++head) first.push_back(label(head));
  openLearned(1);
  for (Index head = 0; head < 6; ++head) second.push_back(label(head));
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_THAT(first, Contains("previous token"));
  EXPECT_THAT(first, Contains("induction"));
  expectRoom("a model's layer");
}

TEST_F(DetectorsOnScreen, NarrowColumnsUseShortNames) {
  for (const int width : {1281, 1400, 1600, 1920}) {
    ui.resize(width, 900);
    park();
    EXPECT_THAT(written(), Not(testing::ContainsRegex("\n(induc|separ|confid|dist|seg)[a-z]*…"))) << width;
  }
}

TEST_F(SmallDetectors, OpeningSceneFits) {
  expectRoom("opening scene");
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
}

TEST_F(SmallDetectors, EveryColourScaleHasALegend) {
  park();
  EXPECT_THAT(written(), AllOf(HasSubstr("\nscore\n"), HasSubstr("\nmean distance in tokens\n")));
  float most = 0;
  for (const attention::HeadProfile& one : tab().study()->profiles)
    most = std::max(most, one["distance"].raw);
  EXPECT_GT(most, 1) << "farther than a scale from 0 to 1";
  EXPECT_THAT(written(), HasSubstr("\n" + app::fixedText(static_cast<double>(most), 1) + "\n"));
  at().aboveEven = true;
  ui.draw();
  park();
  EXPECT_THAT(written(), HasSubstr("\nabove uniform\n"));
  expectRoom("above uniform");
}

TEST_F(SmallDetectors, ThresholdIsNamedInFull) {
  park();
  EXPECT_THAT(written(), HasSubstr("\nThreshold\n"));
}

TEST_F(SmallDetectors, SixtyFourHeadsAndLongTextFit) {
  ui.show(crowdedScene(ui.scene()));
  EXPECT_EQ(rows().size(), 64u);
  EXPECT_EQ(tab().study()->comparedRows, app::kComparedRows);
  expectRoom("64 heads");
}

TEST_F(SmallDetectors, RowsFollowTheChosenHead) {
  app::Scene scene = crowdedScene(ui.scene());
  for (const Index head : {63, 0}) {
    scene.cursor.cell.head = head;
    ui.show(scene);
    park();
    EXPECT_TRUE(ui.has(fmt::format("detect.head.{}", head)));
    EXPECT_FALSE(ui.has(fmt::format("detect.head.{}", 63 - head)));
  }
}

class ViewsOnScreen : public TabOnScreen {
 protected:
  explicit ViewsOnScreen(int width = 1920, int height = 1080) : TabOnScreen("views", width, height) {}
  const app::ViewStudy& study() { return *lab().tab<app::head_lab_page::ViewsTab>().study(); }
};
class SmallViews : public ViewsOnScreen {
 protected:
  SmallViews() : ViewsOnScreen(1280, 720) {}
};

TEST_F(ViewsOnScreen, EveryPictureMatchesItsFormula) {
  const attention::Stack& weights = ui.sequence().attention.weights;
  using app::HeadPicture;
  EXPECT_FLOAT_EQ(study()[HeadPicture::mean].values(7, 6), attention::meanOverHeads(weights)(7, 6));
  EXPECT_FLOAT_EQ(study()[HeadPicture::max].values(7, 6), attention::maxOverHeads(weights)(7, 6));
  EXPECT_FLOAT_EQ(study()[HeadPicture::difference].values(7, 6), weights.at(0, 7, 6) - weights.at(1, 7, 6));
  EXPECT_FLOAT_EQ(study()[HeadPicture::firstOut].values(7, 6),
                  weights.at(0, 7, 6) / (1 - weights.at(0, 7, 0)));
  EXPECT_EQ(study()[HeadPicture::firstOut].values(7, 0), -INFINITY) << "what is left out isn't drawn";
  EXPECT_EQ(study()[HeadPicture::mean].values(3, 7), -INFINITY) << "masked in every head";
  float sum = 0;
  for (Index key = 0; key <= 7; ++key) sum += study()[HeadPicture::valueWeighted].values(7, key);
  EXPECT_NEAR(sum, 1, 1e-5f);
}

TEST_F(ViewsOnScreen, EveryPictureFitsAndCanBeSelected) {
  for (const std::string_view name : app::kHeadPictureNames) {
    ui.click("views." + std::string(name));
    EXPECT_EQ(app::kHeadPictureNames[static_cast<std::size_t>(at().picture)], name);
    expectRoom(std::string(name));
  }
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
  ui.click("views.difference").choose("views.other", "4");
  EXPECT_EQ(study().question.other, 4);
  ui.key(Key::left);
  EXPECT_EQ(at().picture, app::HeadPicture::max);
}

TEST_F(ViewsOnScreen, ModelLayerFits) {
  openLearned(1);
  EXPECT_EQ(study().question.layer->config().heads, 6);
  expectRoom("learned");
}

TEST_F(SmallViews, EveryPictureFits) {
  for (const std::string_view name : app::kHeadPictureNames) {
    ui.click("views." + std::string(name));
    expectRoom(std::string(name));
  }
}

class ManyOnScreen : public TabOnScreen {
 protected:
  explicit ManyOnScreen(int width = 1920, int height = 1080) : TabOnScreen("head_count", width, height) {}
  const app::HeadCountStudy& study() { return *lab().tab<app::head_lab_page::HeadCountTab>().study(); }
};
class SmallMany : public ManyOnScreen {
 protected:
  SmallMany() : ManyOnScreen(1280, 720) {}
};

TEST_F(ManyOnScreen, SentenceReportsTheRank) {
  // The lines of a paragraph joined into one.
  const auto sentence = [&] {
    app::uiState().watches = true;
    ui.screenshot();
    std::string words;
    for (const app::DrawnText& text : app::uiState().texts) words += text.text + " ";
    return words;
  };
  EXPECT_THAT(sentence(), testing::HasSubstr("along all 256 directions"));
  ui.session().scene().setup.weights.gain = 0;
  ui.draw();
  EXPECT_EQ(study().wide.spectra.front().rank, 0);
  EXPECT_THAT(sentence(), testing::HasSubstr("along 0 of 256 directions"));
}

TEST_F(ManyOnScreen, WideHeadHasFullRankAndManyHaveMorePatterns) {
  EXPECT_EQ(study().wide.headDim, 256);
  EXPECT_EQ(study().small.heads, 8);
  EXPECT_EQ(study().parameters, 4u * 256 * 256);
  EXPECT_EQ(study().wide.spectra.front().rank, 256) << "random maps have all directions";
  for (const auto& spectrum : study().small.spectra) EXPECT_EQ(spectrum.rank, 32);
  EXPECT_EQ(study().wide.likeness, 1);
  EXPECT_LT(study().small.likeness, 0.95);
  expectRoom("opening scene");
  EXPECT_TRUE(ui.has("axis.query") && ui.has("axis.key")) << "tokens have their names";
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
  ui.choose("many.heads", "32");
  EXPECT_EQ(study().small.heads, 32);
  expectRoom("32 heads");
  EXPECT_GT(ui.find("many.wide.0").GetWidth(), 3 * ui.find("many.small.0").GetWidth());
  ui.key(Key::right);
  EXPECT_EQ(study().small.heads, 64);
  expectRoom("64 heads");
}

TEST_F(ManyOnScreen, InitAndGainChangeTheEntropy) {
  const double before = study().small.entropy;
  ui.session().scene().setup.weights.init = app::WeightInit::normal;
  ui.session().scene().setup.weights.gain = 0.1f;
  ui.draw();
  EXPECT_GT(study().small.entropy, before);
  EXPECT_GT(study().small.entropy, 0.99) << "tiny weights look everywhere";
}

TEST_F(ManyOnScreen, OddModelDimKeepsOneHead) {
  app::Scene scene = ui.scene();
  scene.setup.weights.source = app::WeightSource::random;
  scene.setup.model = {};
  scene.setup.model.heads = scene.setup.model.kvHeads = 1;
  scene.setup.model.headDim = scene.setup.model.modelDim = 7;
  ui.show(scene);
  EXPECT_EQ(study().small.heads, 1);
  expectRoom("odd");
}

TEST_F(SmallMany, OpeningSceneFits) {
  expectRoom("small");
}

}  // namespace
}  // namespace headscope::test
