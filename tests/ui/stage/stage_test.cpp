// Presenting: what a lecturer does by single keys and the mouse, and what the audience sees.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/pages/heads/heads_page.h"
#include "app/pages/model/model_page.h"
#include "app/platform/ui_state.h"
#include "app/scene/mask_rules.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;
using app::Scene;

constexpr Key letter(char key) {
  return static_cast<Key>(key);
}

class OnStage : public testing::Test {
 protected:
  OnStage() {
    ui.view().present = true;
    ui.draw();
  }
  Scene& edit() { return ui.session().scene(); }
  void press(char key) { ui.key(letter(key)); }
  std::string caption() {
    std::string all;
    for (const app::CaptionPart& part : page().caption(ui.scene())) all += part.text;
    return all;
  }
  app::Page& page() {
    if (ui.scene().cursor.page == "model") return ui.session().page<app::model_page::Page>();
    return ui.session().page<app::heads_page::Page>();
  }
  const app::model_page::State& model() { return ui.session().page<app::model_page::Page>().state(); }
  bool causal() { return app::hasRule(edit().setup.mask.layers, attention::PatternKind::causal); }

  UiDriver ui{1280, 720};
};

TEST_F(OnStage, ModelShowsTextLargeHeadAndThreePredictions) {
  ui.view().request("model.learned");
  edit().cursor.page = "model";
  ui.park();
  ASSERT_TRUE(model().ready());
  for (Index token = 0; token < model().tokens(); ++token)
    EXPECT_TRUE(ui.visible(fmt::format("strip.word.{}", token))) << token;
  for (const char* guess : {"guess.0", "guess.1", "guess.2"}) EXPECT_TRUE(ui.visible(guess)) << guess;
  EXPECT_FALSE(ui.has("guess.3"));
  EXPECT_GT(ui.find("model.large").GetHeight(), 300);
  EXPECT_THAT(flaws(ui), IsEmpty());
}

TEST_F(OnStage, ShowsEffectOfDisabledHeadsAndFormerPrediction) {
  ui.view().request("model.learned");
  edit().cursor.page = "model";
  ui.park();
  ASSERT_TRUE(model().ready());
  edit().cursor.cell.query = 7;
  ui.draw();
  EXPECT_THAT(caption(), HasSubstr("looks most at")) << "no change yet";
  const Index first = model().predictions->best.front().id;
  for (Index layer = 0; layer < 4; ++layer)
    for (Index head = 0; head < 6; ++head)
      edit().setup.subject.switchedOff.push_back({layer, head, app::HeadOff::zero});
  ui.draw();
  const auto& predictions = *model().predictions;
  ASSERT_NE(predictions.best.front().id, first) << "without any head it says something else";
  ASSERT_TRUE(predictions.former);
  EXPECT_EQ(predictions.former->id, first);
  EXPECT_THAT(caption(), testing::AllOf(HasSubstr("Without these 24 heads"), HasSubstr("falls from")));
  EXPECT_TRUE(ui.has("guess.former") || predictions.best[1].id == first || predictions.best[2].id == first);
}

TEST_F(OnStage, CaptionNamesTheHeadThatIsOff) {
  ui.view().request("model.learned");
  edit().cursor.page = "model";
  ui.park();
  ASSERT_TRUE(model().ready());
  edit().setup.input.text = "milk river Ben cold door Mia hill sad ring milk river Ben";
  edit().setup.subject.switchedOff = {{0, 0, app::HeadOff::zero}};
  edit().cursor.cell = {2, 11, 3};
  ui.draw();
  EXPECT_THAT(caption(), HasSubstr("Without layer 0, head 0, "));
}

TEST_F(OnStage, CaptionNamesStrongestKeyOfRowUntilOneIsChosen) {
  edit().cursor.focus = 0;
  edit().cursor.cell = {0, 7, 0};
  ui.park();
  EXPECT_THAT(caption(), testing::AllOf(HasSubstr("“it” takes 0.94"), HasSubstr("“because”")));
  choose(edit().cursor, {0, 7, 0});
  ui.draw();
  EXPECT_THAT(caption(), HasSubstr("from “The”"));
}

TEST_F(OnStage, SingleKeysChangeMaskAndAttentionKind) {
  edit().setup.weights.source = app::WeightSource::random;
  ui.draw();
  ASSERT_TRUE(causal());
  press('C');
  EXPECT_FALSE(causal());
  EXPECT_TRUE(ui.has("stage.key")) << "what was pressed is shown";
  ui.wait(app::kKeyShown + 0.1);
  EXPECT_FALSE(ui.has("stage.key")) << "for a second";
  ASSERT_EQ(app::kindOf(edit().setup.model), app::AttentionKind::gqa);
  press('K');
  EXPECT_EQ(app::kindOf(edit().setup.model), app::AttentionKind::mqa);
  press('K');
  EXPECT_EQ(app::kindOf(edit().setup.model), app::AttentionKind::mha);
  press('K');
  EXPECT_EQ(app::kindOf(edit().setup.model), app::AttentionKind::gqa);
}

TEST_F(OnStage, LetterKeysDoNothingWhenNotPresenting) {
  ui.view().present = false;
  ui.draw();
  const std::string text = ui.sceneText();
  for (const char key : {'T', 'E', 'C', 'K', 'J', 'B', 'F', 'L', 'S', 'Z', 'W'}) press(key);
  EXPECT_EQ(ui.sceneText(), text);
  EXPECT_EQ(ui.dialog(), "");
}

TEST_F(OnStage, TypedSentenceUpdatesHeads) {
  ui.key(letter('T')).frames(3);
  ASSERT_EQ(ui.dialog(), "sentence");
  ui.chord(kCtrl, letter('A')).type("cats chase");
  EXPECT_EQ(*ui.scene().setup.input.text, "cats chase") << "c and a are letters here, no keys";
  EXPECT_EQ(ui.sequence().queryLength, 2);
  EXPECT_TRUE(causal());
  ui.key(Key::enter);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_TRUE(ui.view().present);
}

TEST_F(OnStage, PressingEStepsThroughExampleTexts) {
  const Scene before = ui.scene();
  press('E');
  const std::string first = *ui.scene().setup.input.text;
  EXPECT_NE(first, *before.setup.input.text);
  press('E');
  EXPECT_NE(*ui.scene().setup.input.text, first);
  Scene restored = ui.scene();
  restored.setup.input.text = before.setup.input.text;
  EXPECT_EQ(restored.setup, before.setup) << "the layer stays what it was";
  EXPECT_EQ(restored.cursor.page, "heads");
}

TEST_F(OnStage, PressingEOnModelShowsTheHeadThatAnExampleIsAbout) {
  ui.view().request("model.learned");
  edit().cursor.page = "model";
  ui.park();
  press('E');
  EXPECT_EQ(ui.scene().setup.subject.model, app::kLearned);
  EXPECT_EQ(ui.scene().cursor.page, "model");
  EXPECT_EQ(*ui.scene().setup.input.text, model().model.opened->learned.skills.front().text);
}

TEST_F(OnStage, PressingJSelectsNextActiveHead) {
  edit().cursor.cell.head = 0;
  press('J');
  EXPECT_EQ(ui.scene().cursor.focus, 1);
  ui.view().request("model.learned");
  edit().cursor.page = "model";
  ui.park();
  const app::ModelCursor before = ui.scene().cursor.model;
  const Index head = ui.scene().cursor.cell.head;
  press('J');
  EXPECT_TRUE(ui.scene().cursor.model.layer != before.layer || ui.scene().cursor.cell.head != head);
  EXPECT_TRUE(app::model_page::isDeliberate(
      model().summary(ui.scene().cursor.model.layer, ui.scene().cursor.cell.head)->label(0.3f)));
}

TEST_F(OnStage, BarAppearsWithMouseAndDisappears) {
  ui.park();
  EXPECT_FALSE(ui.has("stage.bar"));
  ui.moveTo(640, 650).frames(2);
  ASSERT_TRUE(ui.has("stage.bar"));
  for (const char* action : {"stage.type", "mask.causal", "stage.kind", "stage.blank", "stage.magnify"})
    EXPECT_TRUE(ui.visible(std::string("stage.") + action)) << action;
  ui.click("stage.mask.causal");
  EXPECT_FALSE(causal());
  ui.wait(app::kPointerRests + 0.2);
  EXPECT_FALSE(ui.has("stage.bar"));
}

TEST_F(OnStage, HidesRestingPointerTooltipAndCrosshair) {
  ui.hover("head.0").frames(2);
  ASSERT_GE(ui.view().hover.query, 0);
  ui.wait(app::kPointerRests + 0.2);
  EXPECT_EQ(ui.view().hover, app::Crosshair{});
  EXPECT_FALSE(ui.has("tooltip"));
  EXPECT_EQ(ImGui::GetMouseCursor(), ImGuiMouseCursor_None);
  ui.press().release();
  EXPECT_EQ(ui.scene().cursor.focus, 0) << "a click is where the mouse is";
}

TEST_F(OnStage, PointerLeavesModelSelectionAlone) {
  ui.view().request("model.learned");
  edit().cursor.page = "model";
  ui.park();
  edit().cursor.model.layer = 1;
  choose(edit().cursor, {2, 7, 3});
  ui.draw().hoverAt("model.2.4", 0.3f, 0.8f).wait(0.6);
  EXPECT_EQ(ui.view().hover.head, 4);
  EXPECT_EQ(ui.scene().cursor.cell, (app::Cell{2, 7, 3}));
  ui.wait(app::kPointerRests);
  EXPECT_EQ(ui.view().hover.head, -1);
  EXPECT_EQ(ui.scene().cursor.model.layer, 1);
  EXPECT_EQ(ui.scene().cursor.cell, (app::Cell{2, 7, 3}));
}

TEST_F(OnStage, ScreenStaysDarkUntilNextKey) {
  const render::Image page = ui.screenshot();
  press('B');
  EXPECT_TRUE(ui.has("stage.dark"));
  const render::Image dark = ui.screenshot();
  EXPECT_GT(pixelsApart(page, dark), 100'000);
  press('B');
  EXPECT_FALSE(ui.has("stage.dark"));
  press('B');
  press('C');
  EXPECT_FALSE(ui.has("stage.dark")) << "what is done is seen";
  press('B');
  press('Q');
  EXPECT_FALSE(ui.has("stage.dark")) << "also by a key that does nothing";
  press('B');
  ui.press().release();
  EXPECT_FALSE(ui.has("stage.dark")) << "also by a click";
}

TEST_F(OnStage, ClickThatLightsTheScreenDoesNothingElse) {
  ui.hover("head.0").frames(2);
  press('B');
  ui.frames(2).press().release().frames(2);
  EXPECT_FALSE(ui.has("stage.dark"));
  EXPECT_EQ(ui.scene().cursor.focus, -1) << "nobody aims in the dark";
  ui.press().release();
  EXPECT_EQ(ui.scene().cursor.focus, 0);
}

TEST_F(OnStage, DarkScreenSaysHowToReturnThenFallsSilent) {
  app::uiState().watches = true;
  const auto says = [] {
    return std::ranges::any_of(app::uiState().texts, [](const app::DrawnText& text) {
      return text.text == "Any key shows the picture again";
    });
  };
  press('B');
  EXPECT_TRUE(says());
  ui.wait(app::kPointerRests + 0.2);
  EXPECT_TRUE(ui.has("stage.dark"));
  EXPECT_FALSE(says());
  ui.moveTo(640, 650).frames(2);
  EXPECT_TRUE(says()) << "to somebody who tries the mouse";
  EXPECT_FALSE(ui.has("stage.bar"));
}

TEST_F(OnStage, FrozenPictureStaysWhileSceneChanges) {
  const render::Image before = ui.screenshot();
  press('F');
  EXPECT_EQ(pixelsApart(before, ui.screenshot()), 0);
  press('C');
  EXPECT_FALSE(causal());
  EXPECT_EQ(pixelsApart(before, ui.screenshot()), 0);
  press('F');
  ui.wait(app::kKeyShown + 0.1);
  EXPECT_GT(pixelsApart(before, ui.screenshot()), 1000);
}

TEST_F(OnStage, LaserLeavesTrailAndSpotlightDims) {
  ui.moveTo(300, 300);
  press('L');
  ui.wait(app::kKeyShown + 0.1).moveTo(420, 300);
  ASSERT_TRUE(ui.has("stage.laser.dot"));
  EXPECT_NEAR(ui.find("stage.laser.dot").GetCenter().x, 420, 1);
  EXPECT_EQ(ui.session().stage().trail.size(), 2u) << "where it was";
  press('L');
  EXPECT_FALSE(ui.has("stage.laser.dot"));
  const render::Image lit = ui.screenshot();
  press('S');
  ui.wait(app::kKeyShown + 0.1);
  const render::Image dimmed = ui.screenshot();
  EXPECT_GT(pixelsApart(lit, dimmed, ImRect(900, 100, 1200, 500), 8), 1000) << "the rest";
  EXPECT_EQ(pixelsApart(lit, dimmed, ImRect(380, 260, 460, 340), 8), 0) << "not where it points";
}

TEST_F(OnStage, SpotlightLeavesTooltipsBright) {
  ui.hoverAt("head.7", 0.4f, 0.6f).frames(2);
  ASSERT_TRUE(ui.has("tooltip"));
  const render::Image lit = ui.screenshot("tooltip");
  press('S');
  ASSERT_TRUE(ui.session().stage().spotlight);
  ui.wait(app::kKeyShown + 0.1);
  EXPECT_EQ(pixelsApart(lit, ui.screenshot("tooltip"), std::nullopt, 8), 0);
}

TEST_F(OnStage, SpotlightWorksWithRestingPointer) {
  ui.moveTo(420, 300).wait(2.5);
  ASSERT_FALSE(ImGui::IsMousePosValid());
  const render::Image before = ui.screenshot();
  press('S');
  ui.wait(app::kKeyShown + 0.1);
  EXPECT_GT(pixelsApart(before, ui.screenshot(), ImRect(900, 100, 1200, 500), 8), 1000);
}

TEST_F(OnStage, MagnifierEnlargesAroundPointer) {
  ui.moveTo(640, 360).frames(2);
  const render::Image before = ui.screenshot();
  press('Z');
  ui.wait(app::kKeyShown + 0.1);
  const render::Image large = ui.screenshot();
  // Magnified twice, a pixel shows what was halfway between it and the pointer.
  const auto at = [](const render::Image& image, int x, int y) {
    const auto from = image.rgba.begin() + (static_cast<std::ptrdiff_t>(y) * image.width + x) * 4;
    return std::vector<int>(from, from + 3);
  };
  int moved = 0, same = 0;
  for (int y = 100; y < 700; y += 50)
    for (int x = 100; x < 1200; x += 50) {
      moved += at(large, x, y) == at(before, 640 + (x - 640) / 2, 360 + (y - 360) / 2);
      same += at(large, x, y) == at(before, x, y);
    }
  EXPECT_GT(moved, same + 30) << "of 264";
  press('Z');
  ui.wait(app::kKeyShown + 0.1).moveTo(640, 360).frames(2);
  EXPECT_EQ(pixelsApart(before, ui.screenshot()), 0);
}

TEST_F(OnStage, EndingPresentationClearsDarkAndSpotlight) {
  press('S');
  press('B');
  ui.key(Key::escape);
  EXPECT_FALSE(ui.has("stage.dark"));
  EXPECT_TRUE(ui.view().present) << "Escape takes the dark away first";
  ui.key(Key::escape);
  EXPECT_FALSE(ui.view().present);
  EXPECT_FALSE(ui.session().stage().spotlight);
}

TEST_F(OnStage, LessonExplainsBeforeAsking) {
  edit().cursor.page = "lessons";
  edit().cursor.lesson.lesson = "scaled_attention";
  edit().cursor.lesson.step = 1;
  ui.draw();
  const auto texts = [&] {
    app::UiState& state = app::uiState();
    state.watches = true;
    ui.frames(2);
    std::string all;
    for (const app::DrawnText& text : state.texts) all += text.text + " ";
    state.watches = false;
    return all;
  };
  EXPECT_FALSE(ui.has("lesson.option.A"));
  EXPECT_THAT(texts(), HasSubstr("A score has a direction"));
  ui.key(Key::pageDown);
  EXPECT_TRUE(ui.has("lesson.option.A"));
  ui.key(Key::pageUp);
  EXPECT_FALSE(ui.has("lesson.option.A")) << "back to the explanation";
  ui.key(Key::pageDown).key(Key::pageDown);
  EXPECT_THAT(texts(), HasSubstr("✓"));
}

TEST_F(OnStage, MapOfShortTextFillsScreen) {
  edit().cursor.page = "map";
  ui.draw();
  const ImRect cells = ui.find("map.cells");
  EXPECT_GT(cells.GetWidth() * cells.GetHeight(), 0.33f * 1280 * 720);
  EXPECT_THAT(flaws(ui), IsEmpty());
  ui.hoverAt("map.cells", 0.55f, 0.62f);  // the highlighted column is the one under the pointer
  ui.frames(2);
  EXPECT_TRUE(ui.has("tooltip"));
}

TEST_F(OnStage, ComparisonWithoutSecondMaskIsNotEmpty) {
  edit().cursor.page = "mask";
  edit().cursor.studio.tab = app::StudioTab::compare;
  ui.draw();
  EXPECT_TRUE(ui.has("weights_map"));
  EXPECT_FALSE(ui.has("make_other"));
}

TEST_F(OnStage, AllListedLessonsAreVisible) {
  edit().cursor.page = "lessons";
  ui.draw();
  const std::vector<std::string> cards = ui.names("lesson.card.");
  ASSERT_GT(cards.size(), 8u);
  for (const std::string& card : cards) EXPECT_TRUE(ui.visible(card)) << card;
}

}  // namespace
}  // namespace headscope::test
