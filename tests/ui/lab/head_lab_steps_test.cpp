// The pipeline's words for each step describe what the layer really does.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/platform/track.h"
#include "attention/masks/expression.h"
#include "tests/support/matchers.h"
#include "tests/ui/lab/head_lab_support.h"

namespace headscope::test {
namespace {

using app::PipelineStep;

class Steps : public LabTabOnScreen {
 protected:
  Steps() : LabTabOnScreen("pipeline") {}

  app::Scene& scene() { return ui.session().scene(); }
  void show(PipelineStep step) {
    scene().cursor.lab.step = step;
    ui.draw();
    park();
  }
  /// The title and sentence in one line.
  std::string words() {
    const app::head_lab_page::StepWords words = app::head_lab_page::stepWords(ui.scene(), page());
    std::string text = words.title + ". ";
    for (const app::CaptionPart& part : words.sentence) text += part.text;
    return text;
  }
  bool drew(const std::string& mark) {
    written();
    return std::ranges::count(app::uiState().marks, mark, &app::DrawnMark::name) > 0;
  }
};

TEST_F(Steps, SumPreviewsHoveredCellAndFallsBack) {
  show(PipelineStep::dot);
  const app::Cursor before = scene().cursor;
  const std::string selected = written();
  ASSERT_THAT(selected, AllOf(HasSubstr("Σ q₇[c] · k₆[c] = "), Not(HasSubstr("\nhover\n"))));
  EXPECT_FALSE(drew("ghost"));
  ui.hoverAt("stage.dot", 2.5f / 12, 4.5f / 12);
  EXPECT_THAT(written(), AllOf(HasSubstr("Σ q₄[c] · k₂[c] = "), HasSubstr("\nhover\n")));
  EXPECT_TRUE(drew("ghost"));
  EXPECT_TRUE(drew("crosshair")) << "what is selected stays marked";
  EXPECT_EQ(scene().cursor, before);
  ui.hoverAt("stage.dot", 6.5f / 12, 7.5f / 12);
  EXPECT_THAT(written(), Not(HasSubstr("\nhover\n"))) << "the selected cell is no preview";
  park();
  EXPECT_EQ(written(), selected);
}

/// Without the pointer, the dimension is the row's largest.
TEST_F(Steps, SumPreviewsHoveredDimension) {
  show(PipelineStep::mix);
  const app::Cursor before = scene().cursor;
  ui.hoverAt("stage.mix", 9.5f / 32, 2.5f / 12);
  EXPECT_THAT(written(), AllOf(HasSubstr("Σ a[j] · v[j, 9] = "), HasSubstr("\nhover\n")));
  EXPECT_EQ(page().dim, -1);
  EXPECT_EQ(scene().cursor, before);
}

TEST_F(Steps, WordsAndSelectionDontFollowThePointer) {
  for (const PipelineStep step : app::head_lab_page::stepsOf(page())) {
    show(step);
    const app::Cursor before = scene().cursor;
    const std::string said = words();
    for (const std::string& picture : ui.names("stage.")) {
      SCOPED_TRACE(said + picture);
      ui.hoverAt(picture, 0.2f, 0.9f);
      EXPECT_EQ(words(), said);
      EXPECT_EQ(scene().cursor, before);
    }
  }
}

TEST_F(Steps, SoftCapShowsFormulaWithoutAddedTerm) {
  scene().setup.model.softcap = 5;
  show(PipelineStep::bias);
  EXPECT_EQ(page().head->steps.biased.size(), 144);
  EXPECT_THAT(words(), AllOf(HasSubstr("5·tanh(score ÷ 5)"), HasSubstr("the same at every position"),
                             Not(HasSubstr("the position of"))));
  EXPECT_THAT(written(), AllOf(HasSubstr("5·tanh(10.80 ÷ 5) = "), HasSubstr("capped"),
                               Not(HasSubstr("the added term"))));
  expectTidy("soft-cap");
}

TEST_F(Steps, BiasIsAddedBeforeSoftCap) {
  scene().setup.model.softcap = 5;
  scene().setup.model.position = app::PositionKind::alibi;
  choose(scene().cursor, {0, 7, 6});
  show(PipelineStep::bias);
  EXPECT_THAT(words(), AllOf(HasSubstr("the position of"), HasSubstr("then keeps it within ±5")));
  const double dot = page().head->steps.dots(7, 6), scaled = dot * page().head->steps.factor;
  EXPECT_THAT(written(), AllOf(HasSubstr("5·tanh((" + app::cellText(scaled) + " − 0.500) ÷ 5) = "),
                               HasSubstr("bias added, then capped")));
  expectTidy("ALiBi and soft-cap");
}

TEST_F(Steps, BiasWithoutSoftCapIsOnlyAdded) {
  scene().setup.model.position = app::PositionKind::alibi;
  choose(scene().cursor, {0, 7, 6});
  show(PipelineStep::bias);
  EXPECT_THAT(words(), AllOf(HasSubstr("the position of"), Not(HasSubstr("cap"))));
  EXPECT_THAT(written(), AllOf(HasSubstr(" − 0.500 = "), HasSubstr("bias added")));
}

TEST_F(Steps, RowTableSumsUpTheKeysThatDontFit) {
  ui.resize(1280, 720);
  show(PipelineStep::softmax);
  EXPECT_THAT(written(), Not(HasSubstr(" more\n"))) << "all 12 keys fit";
  scene().setup.input.text =
      "one two three four five six seven eight nine ten one two three four five six seven";
  scene().cursor.cell = {3, 16, 0};
  scene().cursor.keyChosen = true;
  show(PipelineStep::softmax);
  const attention::MatrixView weights = ui.sequence().probabilities()[3];
  const auto shown = static_cast<app::Index>(ui.names("row.").size()) - 1;
  ASSERT_LT(shown, 17);
  const double rest = static_cast<double>(weights.row(16).tail(17 - shown).sum());
  EXPECT_GT(rest, 0.1) << "the head attends uniformly";
  EXPECT_THAT(written(), HasSubstr(fmt::format("\n{} more\n", 17 - shown)));
  EXPECT_THAT(written(), HasSubstr("\n" + app::cellText(rest) + "\n"));
  show(PipelineStep::mask);
  EXPECT_THAT(written(), HasSubstr(" more\n"));
  expectTidy("a column for the other keys");
}

TEST_F(Steps, ExplanationMatchesScaling) {
  show(PipelineStep::scale);
  EXPECT_THAT(words(), AllOf(HasSubstr("Scores scaled by 1/√dₖ"), HasSubstr("Dividing by it keeps")));
  EXPECT_THAT(written(), HasSubstr("same pattern, smaller numbers"));
  scene().setup.model.scaled = false;
  ui.draw();
  EXPECT_THAT(words(), AllOf(HasSubstr("Scores unchanged"), HasSubstr("Without the division"),
                             Not(HasSubstr("Dividing by it keeps"))));
  EXPECT_THAT(written(), AllOf(HasSubstr("no scaling"), HasSubstr("unscaled"), HasSubstr("not scaled\n"),
                               Not(HasSubstr("\nscaled\n"))));
  scene().setup.model.sharpness = 3;
  show(PipelineStep::scale);
  EXPECT_THAT(words(), AllOf(HasSubstr("scaled up"), HasSubstr("multiplies every score by 3"),
                             Not(HasSubstr("Dividing by it keeps"))));
  EXPECT_THAT(written(), AllOf(HasSubstr("same pattern, larger numbers"), Not(HasSubstr("smaller"))));
  EXPECT_THAT(written(), AllOf(HasSubstr("\n× 3 sharpness\n"), Not(HasSubstr("not scaled"))));
  expectTidy("not scaled, sharpness 3");
  scene().setup.model.scaled = true;
  ui.draw();
  EXPECT_THAT(words(), AllOf(HasSubstr("Dividing by it keeps"), HasSubstr("multiplies every score by 3")));
}

/// The film's titles are spelled out, however many operations the scores go through.
TEST_F(Steps, FrameTitlesAreNeverTruncated) {
  scene().setup.model.scaled = true;
  scene().setup.model.sharpness = 12.5f;
  scene().setup.model.position = app::PositionKind::alibi;
  scene().setup.model.softcap = 30;
  scene().setup.mask.additive.edit().values = attention::Matrix::Ones(12, 12);
  for (const auto& [width, height] : {std::pair{1920, 1080}, {1280, 720}}) {
    ui.resize(width, height);
    show(PipelineStep::mask);
    EXPECT_THAT(written(), AllOf(HasSubstr("÷ √32 × 12.5"), HasSubstr("+ ALiBi soft-cap 30 + additive\n"),
                                 Not(HasSubstr("…"))));
    expectTidy("all terms");
  }
}

/// Where few columns fit, the sum has a line for each of its terms.
TEST_F(Steps, NarrowSumsHaveLinesInsteadOfColumns) {
  const auto places = [&](int width) {
    ui.resize(width, 900);
    show(PipelineStep::dot);
    return std::pair{ui.find("sum.0").Min, ui.find("sum.1").Min};
  };
  const auto wide = places(1280), narrow = places(900);
  EXPECT_EQ(wide.first.y, wide.second.y);
  EXPECT_LT(wide.first.x, wide.second.x);
  EXPECT_EQ(narrow.first.x, narrow.second.x);
  EXPECT_LT(narrow.first.y, narrow.second.y);
}

TEST_F(Steps, LowWindowsScroll) {
  ui.resize(1280, 480);
  show(PipelineStep::dot);
  const auto seen = [&] {
    const std::optional<ImRect> next = app::tracked("lab.next");
    return next && next->Max.y < 480 - 32;  // above the status line
  };
  EXPECT_FALSE(seen());
  ui.wheel("film.4", -10).frames(3);
  EXPECT_TRUE(seen());
}

TEST_F(Steps, EveryTabScrollsInLowWindows) {
  ui.resize(640, 400);
  for (const char* tab :
       {"weights", "views", "head_count", "embeddings", "ablation", "detectors", "mistakes"}) {
    scene().cursor.lab.tab = tab;
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

TEST_F(Steps, MixStepMentionsDropoutWhenEnabled) {
  show(PipelineStep::mix);
  EXPECT_THAT(words(), Not(HasSubstr("dropout")));
  scene().setup.model.dropout = 0.3f;
  show(PipelineStep::mix);
  EXPECT_THAT(words(), AllOf(HasSubstr("its weight after dropout"), HasSubstr("÷ 0.7")));
  EXPECT_THAT(written(),
              AllOf(HasSubstr("dropout(A)"), HasSubstr("the weight after dropout: 0 or weight ÷ 0.7")));
  expectTidy("dropout");
}

TEST_F(Steps, RowWithoutVisibleKeysIsExplained) {
  app::Scene empty = ui.scene();
  empty.setup.mask.layers = attention::parseMask("causal & !window(1)").layers;
  empty.cursor.cell.query = 0;
  ui.session().setScene(empty);
  show(PipelineStep::softmax);
  ASSERT_TRUE(page().head) << page().problem();
  EXPECT_THAT(words(),
              AllOf(HasSubstr("sees no key"), HasSubstr("every weight is 0"), Not(HasSubstr("sum to 1"))));
  EXPECT_THAT(written(), AllOf(HasSubstr("no key is visible"), Not(HasSubstr("largest score of the row"))));
  expectTidy("no key");
  show(PipelineStep::mix);
  EXPECT_THAT(words(), HasSubstr("this head's output is 0"));
}

}  // namespace
}  // namespace headscope::test
