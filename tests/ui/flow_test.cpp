// The page Flow: playing, stepping and scrubbing the film, and that its numbers are the snapshot's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/pages/flow/flow_page.h"
#include "app/platform/ui_state.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "attention/masks/expression.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"

namespace headscope::test {
namespace {

using app::FlowCursor;
using app::Key;
using app::PipelineStep;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class FlowPage : public testing::Test {
 protected:
  explicit FlowPage(int width = 1600, int height = 900) : ui(width, height) {
    ui.view().preferences.reducedMotion = false;
    ui.key(static_cast<Key>('2'));
  }

  const FlowCursor& at() { return ui.scene().cursor.flow; }
  const app::flow_page::State& page() { return ui.session().page<app::flow_page::Page>().state(); }
  app::flow_page::Shot shot() { return app::flow_page::shotOf(ui.scene(), page()); }
  void show(PipelineStep stage, double t) {
    ui.session().scene().cursor.flow = {stage, t};
    ui.draw();
  }
  /// All texts on the page, one per line.
  std::string written() {
    app::uiState().watches = true;
    ui.screenshot();
    std::string texts;
    for (const app::DrawnText& text : app::uiState().texts) texts += text.text + "\n";
    return texts;
  }
  /// The page's sentence.
  std::string said() {
    std::string text;
    for (const app::CaptionPart& part : app::flow_page::shotWords(shot(), *ui.view().theme).sentence)
      text += part.text;
    return text;
  }
  UiDriver ui;
};

TEST_F(FlowPage, SpacePlaysToTheEndAndPauses) {
  EXPECT_EQ(ui.scene().cursor.page, "flow");
  ui.key(Key::home);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::input, 0}));
  ui.key(Key::space).wait(1);
  EXPECT_EQ(at().stage, PipelineStep::input);
  EXPECT_GT(at().t, 0.1);
  ui.key(Key::space);
  const FlowCursor paused = at();
  ui.wait(0.5);
  EXPECT_EQ(at(), paused);
  show(PipelineStep::output, 0.9);
  ui.key(Key::space).wait(2);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::output, 1}));
  EXPECT_FALSE(page().playing);
  ui.key(Key::space);
  EXPECT_EQ(at().stage, PipelineStep::input) << "playing at the end begins again";
}

TEST_F(FlowPage, ArrowsStepBeats) {
  show(PipelineStep::dot, 0.2);
  ui.key(Key::right).wait(0.2);
  EXPECT_TRUE(page().playing) << "the beat plays";
  ui.key(Key::right);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::dot, 0.78})) << "again: jumps to its end";
  EXPECT_FALSE(page().playing);
  ui.key(Key::right).wait(2);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::dot, 0.88})) << "stops at the beat's end";
  ui.key(Key::left);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::dot, 0.78}));
  ui.key(Key::left);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::dot, 0.15}));
  ui.key(Key::end);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::output, 1}));
}

TEST_F(FlowPage, TrackScrubs) {
  ui.clickAt("flow.stage.7", 0.5f, 0.5f);
  EXPECT_EQ(at().stage, PipelineStep::softmax);
  EXPECT_NEAR(at().t, 0.5, 0.05);
  ui.dragAcross("flow.track", ImVec2(0.05f, 0.5f), ImVec2(0.995f, 0.5f));
  EXPECT_EQ(at().stage, PipelineStep::output);
  EXPECT_GT(at().t, 0.9);
}

TEST_F(FlowPage, BeatPlaysWhenClicked) {
  show(PipelineStep::softmax, 0);
  ui.click("flow.beat.2.name").wait(3);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::softmax, 0.535}));
  EXPECT_FALSE(page().playing);
}

TEST_F(FlowPage, ReducedMotionGoesFromBeatToBeat) {
  ui.view().preferences.reducedMotion = true;
  show(PipelineStep::dot, 0.2);
  ui.key(Key::right);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::dot, 0.78})) << "at once";
  ui.key(Key::space).wait(1.4);
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::dot, 0.88}));
}

TEST_F(FlowPage, PlaysFromAnotherPage) {
  ui.key(Key::home).key(static_cast<Key>('1'));
  ui.request("flow.play").wait(1);
  EXPECT_EQ(ui.scene().cursor.page, "flow");
  EXPECT_GT(at().t, 0.05);
}

TEST_F(FlowPage, FormulasLowerWholeNumbers) {
  ui.session().scene().cursor.cell = {0, 11, 10};
  ui.session().scene().cursor.keyChosen = true;
  show(PipelineStep::dot, 1);
  EXPECT_EQ(app::flow_page::sumOf(shot(), *ui.view().theme, 16).formula, "s_{11,10} = Σ q₁₁[c] · k₁₀[c]");
}

/// Sliders, texts and masks keep the moment; a click selects a cell.
TEST_F(FlowPage, ChangesKeepTheMoment) {
  show(PipelineStep::mix, 0.4);
  ui.session().scene().setup.input.text = "one two three four";
  ui.session().scene().setup.model.kvHeads = 1;
  ui.draw();
  EXPECT_EQ(at(), (FlowCursor{PipelineStep::mix, 0.4}));
  EXPECT_EQ(shot().n(), 4);
  EXPECT_EQ(shot().config.kvHeads, 1);
  ui.clickAt("flow.cells", 0.5f / 4, 3.5f / 4);
  EXPECT_EQ(ui.scene().cursor.cell.query, 3);
  EXPECT_EQ(ui.scene().cursor.cell.key, 0);
  EXPECT_TRUE(ui.scene().cursor.keyChosen);
  ui.key(Key::up);
  EXPECT_EQ(ui.scene().cursor.cell.query, 2);
}

/// The pointer alone changes nothing.
TEST_F(FlowPage, PointerSelectsNothing) {
  show(PipelineStep::dot, 1);
  const app::Cursor before = ui.scene().cursor;
  ui.hoverAt("flow.cells", 0.3f, 0.3f);
  EXPECT_EQ(ui.scene().cursor, before);
}

/// A sum's parts are the products, and it ends at the snapshot's number.
TEST_F(FlowPage, SumsEndAtTheSnapshotsNumbers) {
  for (const app::Index head : {0, 5, 7}) {
    ui.session().scene().cursor.cell = {head, 9, 4};
    ui.session().scene().cursor.keyChosen = true;
    ui.draw();
    const auto total = [&](PipelineStep stage) {
      show(stage, 1);
      return app::flow_page::sumOf(shot(), *ui.view().theme, 16);
    };
    const attention::AttentionResult& result = ui.sequence().attention;
    const app::flow_page::GrowingSum dot = total(PipelineStep::dot);
    EXPECT_EQ(dot.done, dot.terms.size());
    EXPECT_NEAR(dot.sum(), static_cast<double>(shot().film.steps.dots(9, 4)), 1e-3);
    const Eigen::RowVectorXf output = result.headOutput[head].row(9);
    EXPECT_NEAR(std::abs(total(PipelineStep::mix).sum()), static_cast<double>(output.cwiseAbs().maxCoeff()),
                1e-4);
    const Eigen::RowVectorXf written = result.output.row(9);
    EXPECT_NEAR(std::abs(total(PipelineStep::output).sum()),
                static_cast<double>(written.cwiseAbs().maxCoeff()), 1e-3);
    const Eigen::RowVectorXf query = result.q[head].row(9);
    EXPECT_NEAR(std::abs(total(PipelineStep::project).sum()),
                static_cast<double>(query.cwiseAbs().maxCoeff()), 1e-3);
  }
}

/// Terms are added one by one, each whole.
TEST_F(FlowPage, SumsGrowByWholeProducts) {
  const Eigen::RowVectorXf a = Eigen::RowVectorXf::LinSpaced(40, -1, 2),
                           b = Eigen::RowVectorXf::LinSpaced(40, 1, 3);
  std::size_t before = 0;
  for (int i = 0; i <= 100; ++i) {
    const auto sum = app::flow_page::growingSum(a, b, 12, i / 100.0);
    EXPECT_EQ(sum.terms.size(), 12u);
    EXPECT_EQ(sum.terms.back().label, "29 more");
    EXPECT_GE(sum.done, before);
    before = sum.done;
    for (const auto& term : sum.terms) {
      if (term.at < 0) continue;
      EXPECT_NEAR(term.product, static_cast<double>(a[term.at]) * static_cast<double>(b[term.at]), 1e-6);
    }
    EXPECT_GE(sum.falling, 0);
    EXPECT_LT(sum.falling, 1);
  }
  EXPECT_EQ(before, 12u);
  EXPECT_EQ(app::flow_page::growingSum(a, b, 12, 1).products(12), 40) << "the last term stands for 29";
  EXPECT_NEAR(app::flow_page::growingSum(a, b, 12, 1).sum(), static_cast<double>(a.dot(b)), 1e-3);
}

/// What the page writes at the ends of beats.
TEST_F(FlowPage, WritesTheSelectedCellsNumbers) {
  ui.session().scene().cursor.cell = {5, 7, 6};
  ui.session().scene().cursor.keyChosen = true;
  show(PipelineStep::dot, 0.78);
  const auto number = [&](PipelineStep step) { return app::cellText(shot().score(step, 7, 6)); };
  EXPECT_THAT(written(), HasSubstr("\n" + number(PipelineStep::dot) + "\n"));
  EXPECT_THAT(written(), HasSubstr("14 of 14 terms\n"));
  show(PipelineStep::scale, 1);
  EXPECT_THAT(said(), HasSubstr(number(PipelineStep::dot)));
  EXPECT_THAT(said(), HasSubstr(number(PipelineStep::scale)));
  show(PipelineStep::mask, 1);
  EXPECT_THAT(said(), HasSubstr(" sees 8 of 12 keys"));
  show(PipelineStep::softmax, 0.535);
  EXPECT_THAT(said(), HasSubstr("2.261"));
  show(PipelineStep::softmax, 1);
  EXPECT_THAT(said(), HasSubstr("0.344"));
}

TEST_F(FlowPage, WithoutAMaskNothingIsHidden) {
  ui.session().scene().setup.mask.layers = app::SharedLayers();
  show(PipelineStep::mask, 0.5);
  EXPECT_THAT(said(), HasSubstr("Nothing is hidden from "));
  EXPECT_FALSE(ui.session().error());
}

/// The sentence says what acts on a score between the scale and the mask, in its order.
TEST_F(FlowPage, BiasSaysWhatActs) {
  app::Scene& scene = ui.session().scene();
  scene.setup.model.softcap = 5;
  show(PipelineStep::bias, 1);
  EXPECT_THAT(said(), AllOf(HasSubstr("5·tanh(score ÷ 5) keeps it within ±5."), Not(HasSubstr("added"))));
  scene.setup.model.position = app::PositionKind::alibi;
  show(PipelineStep::bias, 1);
  EXPECT_THAT(said(), HasSubstr("a number for their distance is added, then 5·tanh(score ÷ 5)"));
  scene.setup.mask.additive.edit().values = attention::Matrix::Ones(12, 12);
  show(PipelineStep::bias, 1);
  EXPECT_THAT(said(), HasSubstr("keeps it within ±5, then a number for this cell is added."));
  EXPECT_EQ(app::flow_page::biasText(shot(), "s"), "cap(s + bias) + bias");
  scene.setup.mask.additive.edit().values = attention::Matrix();
  scene.setup.model.softcap = 0;
  show(PipelineStep::bias, 1);
  EXPECT_THAT(said(), AllOf(HasSubstr("distance is added."), Not(HasSubstr("tanh"))));
}

TEST_F(FlowPage, WordsFollowScalingDropoutAndDeadRows) {
  app::Scene& scene = ui.session().scene();
  show(PipelineStep::mix, 0.5);
  EXPECT_THAT(said(), Not(HasSubstr("dropout")));
  scene.setup.model.dropout = 0.3f;
  show(PipelineStep::mix, 0.5);
  EXPECT_THAT(said(), HasSubstr("its weight after dropout"));
  scene.setup.model.scaled = false;
  show(PipelineStep::scale, 0.2);
  EXPECT_THAT(said(), HasSubstr("aren't scaled"));
  scene.setup.mask.layers = attention::parseMask("causal & !window(1)").layers;
  scene.cursor.cell.query = 0;
  show(PipelineStep::softmax, 0.5);
  EXPECT_THAT(said(), HasSubstr("sees no key"));
  show(PipelineStep::mix, 0.5);
  EXPECT_THAT(said(), HasSubstr("this head's output is 0"));
}

TEST_F(FlowPage, FaultSaysTheStageAndBothShapes) {
  app::Scene& scene = ui.session().scene();
  scene.setup.mask.additive.edit().values = attention::Matrix::Ones(3, 2);
  for (const bool presented : {false, true}) {
    ui.view().present = presented;
    ui.draw().park();
    EXPECT_THAT(written(),
                AllOf(HasSubstr("Can't compute this layer"), HasSubstr("It stops at stage 6, + additive"),
                      HasSubstr("found 3×2"), HasSubstr("expected 12×12")));
    EXPECT_THAT(flaws(ui), IsEmpty());
  }
  ui.view().present = false;
  scene.setup.mask.additive.edit().values = attention::Matrix::Ones(12, 12);
  ui.draw();
  EXPECT_THAT(written(), Not(HasSubstr("It stops at")));
  scene.setup.input.source = app::EmbeddingSource::table;
  attention::Table& table = scene.setup.input.table.edit();
  table.names = {"a", "b", "c"};
  table.values = attention::Matrix::Ones(3, 7);
  ui.draw();
  EXPECT_THAT(written(),
              AllOf(HasSubstr("It stops at stage 1"), HasSubstr("found 3×7"), HasSubstr("expected 3×256")));
}

TEST_F(FlowPage, SaysWhatIsMissing) {
  ui.session().scene().setup.input.text = "";
  ui.draw();
  EXPECT_THAT(written(), HasSubstr("No tokens"));
  ui.click("empty.input.sample");
  EXPECT_THAT(written(), Not(HasSubstr("No tokens")));
}

struct FlowCase {
  std::string name;
  std::function<void(app::Scene&)> change;
};

/// Every stage at its beginning, middle and end, for layers of many kinds: nothing overlaps, is cut off or
/// fails.
class FlowShots : public FlowPage, public testing::WithParamInterface<FlowCase> {};

TEST_P(FlowShots, EveryStageFits) {
  app::Scene scene = ui.scene();
  GetParam().change(scene);
  for (const bool present : {false, true}) {
    ui.view().present = present;
    ui.resize(1280, 720).show(scene);
    ASSERT_FALSE(ui.session().error()) << *ui.session().error();
    for (const PipelineStep step : shot().steps)
      for (const double t : {0.0, 0.3, 0.5, 1.0}) {
        SCOPED_TRACE(std::string(app::kPipelineStepNames[static_cast<std::size_t>(step)]) + " at " +
                     std::to_string(t) + (present ? ", presented" : ""));
        show(step, t);
        ui.park().wait(0.2);
        EXPECT_EQ(shot().at, (FlowCursor{step, t}));
        EXPECT_THAT(cutOff(ui), IsEmpty());
        EXPECT_THAT(overlaps(ui), IsEmpty());
      }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layers, FlowShots,
    testing::Values(FlowCase{"opening", [](app::Scene&) {}},
                    FlowCase{"one_token", [](app::Scene& scene) { scene.setup.input.text = "Hi"; }},
                    FlowCase{"cross",
                             [](app::Scene& scene) {
                               scene.setup.input.cross = true;
                               scene.setup.input.contextText = app::kSampleContext;
                             }},
                    FlowCase{"alibi_with_a_cap",
                             [](app::Scene& scene) {
                               scene.setup.model.position = app::PositionKind::alibi;
                               scene.setup.model.softcap = 20;
                               scene.setup.weights.source = app::WeightSource::random;
                             }},
                    FlowCase{"rope_and_one_kv_head",
                             [](app::Scene& scene) {
                               scene.setup.model.position = app::PositionKind::rope;
                               scene.setup.model.kvHeads = 1;
                               scene.setup.weights.source = app::WeightSource::random;
                             }},
                    FlowCase{"crowded", [](app::Scene& scene) { scene = crowdedScene(scene); }},
                    FlowCase{"model",
                             [](app::Scene& scene) {
                               app::adoptModel(scene, app::kLearned, *app::openModel(app::kLearned));
                               scene.cursor.page = "flow";
                             }}),
    [](const testing::TestParamInfo<FlowCase>& info) { return info.param.name; });

}  // namespace
}  // namespace headscope::test
