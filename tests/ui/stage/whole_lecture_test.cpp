// A whole lecture at 1280×720 by keys alone, from the first sentence to a lesson, checking legibility from
// the last row at each step.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/compute/cache/cache_studies.h"
#include "app/pages/lessons/lessons_page.h"
#include "app/pages/model/model_page.h"
#include "app/platform/ui_state.h"
#include "app/scene/mask_rules.h"
#include "app/scene/models/open_model.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;

constexpr float kMinHeight = 18;
constexpr double kMinContrast = 7;

class WholeLecture : public testing::Test {
 protected:
  void press(char key, app::Mods mods = {}) { ui.key(static_cast<Key>(key), mods); }
  /// Runs an action by Ctrl+K, its name and Enter.
  void ask(const std::string& name) {
    ui.chord(kCtrl, Key::k).type(name).key(Key::enter);
    EXPECT_EQ(ui.dialog(), "") << name;
  }
  std::string texts() {
    app::UiState& state = app::uiState();
    state.watches = true;
    ui.frames(2);
    std::string all;
    for (const app::DrawnText& text : state.texts) all += text.text + "\n";
    state.watches = false;
    return all;
  }
  /// Nothing overlaps, is cut off, small or faint, as required for the last row.
  void expectToBeRead(const char* step) {
    SCOPED_TRACE(step);
    ui.wait(app::kKeyShown + 0.1);
    EXPECT_TRUE(ui.view().present);
    EXPECT_EQ(ui.view().messages.error, "");
    EXPECT_THAT(overlaps(ui), IsEmpty());
    EXPECT_THAT(cutOff(ui, Scrolling::doesnt), IsEmpty());
    EXPECT_THAT(smallTexts(ui, kMinHeight), IsEmpty());
    EXPECT_THAT(faintTexts(ui, kMinContrast), IsEmpty());
  }
  const app::model_page::State& model() { return ui.session().page<app::model_page::Page>().state(); }
  const app::lessons_page::State& lesson() { return ui.session().page<app::lessons_page::Page>().state(); }
  bool isInduction() {
    const app::Cursor& cursor = ui.scene().cursor;
    const auto* head = model().summary(cursor.model.layer, cursor.cell.head);
    const auto label = head ? head->label(ui.scene().look.labelThreshold) : attention::HeadLabel{};
    return label.detector && std::string_view(label.detector->name) == "induction";
  }

  UiDriver ui{1280, 720};
};

TEST_F(WholeLecture, RunsByKeysAndIsLegibleFromLastRow) {
  press('P');
  expectToBeRead("present");
  ASSERT_EQ(ui.names("head.").size(), 8u);

  // Types a sentence, and the heads are recomputed.
  press('T');
  ui.chord(kCtrl, Key::a).type("the dog chased the cat because it was hungry").key(Key::enter);
  ASSERT_EQ(ui.sequence().queryLength, 9);
  EXPECT_THAT(texts(), HasSubstr("hungry"));
  expectToBeRead("sentence");
  press('J');
  ASSERT_GE(ui.scene().cursor.focus, 0) << "one head that does something";
  EXPECT_THAT(texts(), HasSubstr("first token"));
  expectToBeRead("one head");
  ui.key(Key::escape);

  // The mask: without it, heads see the future.
  press('3');
  const auto seesFuture = [&] {
    const auto& weights = ui.sequence().attention.weights;
    float most = 0;
    for (Index head = 0; head < 8; ++head) most = std::max(most, weights.at(head, 0, 8));
    return most > 0;
  };
  ASSERT_FALSE(seesFuture());
  expectToBeRead("mask");
  press('C');
  EXPECT_TRUE(seesFuture());
  expectToBeRead("no mask");
  press('C');
  ASSERT_FALSE(seesFuture());

  // Decodes token by token.
  press('1');
  press('D');
  const Index step = ui.scene().cursor.step;
  for (int i = 0; i < 3; ++i) ui.key(Key::right);
  ui.draw();
  EXPECT_TRUE(ui.scene().cursor.decoding);
  EXPECT_EQ(ui.scene().cursor.step, step + 3);
  expectToBeRead("decode");
  press('D');

  // From MHA through GQA to MQA, and the cache's size.
  press('5');
  const auto toKind = [&](app::AttentionKind kind) {
    for (int i = 0; i < 3 && app::kindOf(ui.scene().setup.model) != kind; ++i) press('K');
    ASSERT_EQ(app::kindOf(ui.scene().setup.model), kind) << ui.view().messages.error;
  };
  const auto bytes = [&] { return app::bytesPerToken(ui.scene(), ui.snapshot().config).own; };
  ASSERT_NO_FATAL_FAILURE(toKind(app::AttentionKind::mha));
  const std::uint64_t all = bytes();
  expectToBeRead("MHA");
  ASSERT_NO_FATAL_FAILURE(toKind(app::AttentionKind::mqa));
  EXPECT_EQ(bytes() * 8, all) << "eight heads share one pair";
  EXPECT_THAT(texts(), HasSubstr("MQA"));
  expectToBeRead("MQA");

  // The bundled model reads a list twice: its induction heads predict the continuation.
  press('7');
  ask("Example text: Repeats a list");
  ASSERT_EQ(ui.scene().setup.subject.model, app::kLearned);
  EXPECT_THAT(texts(), HasSubstr("river"));
  const auto best = [&] { return model().predictions->best.front(); };
  const Index wanted = best().id;
  const float before = best().probability;
  expectToBeRead("model");
  for (int i = 0; i < 24 && !isInduction(); ++i) press('J');
  ASSERT_TRUE(isInduction());
  expectToBeRead("induction head");
  press('X', {.shift = true});
  EXPECT_FALSE(ui.scene().setup.subject.switchedOff.empty());
  const auto& without = *model().predictions;
  EXPECT_TRUE(without.best.front().id != wanted || without.best.front().probability < before / 2);
  EXPECT_THAT(texts(), HasSubstr("Without"));
  expectToBeRead("without induction heads");
  press('R', {.shift = true});
  EXPECT_TRUE(ui.scene().setup.subject.switchedOff.empty());
  EXPECT_EQ(best().id, wanted) << "and it knows again";

  // A long text, as a whole and close up.
  press('4');
  ask("Map source: Generated");
  ASSERT_EQ(ui.scene().map.source, app::MapSource::generated);
  ui.park();
  const auto cells = [&] { return ui.map().window->cellsPerPixel; };
  const double whole = cells();
  EXPECT_GE(whole, 10) << "thousands of tokens on one screen";
  expectToBeRead("long map");
  for (int i = 0; i < 6; ++i) ui.key(Key::equal);
  ui.draw();
  EXPECT_LT(cells(), whole / 4);
  expectToBeRead("long map from near");

  // A lesson: explanation, question, answer.
  ask("Start the first lesson");
  ASSERT_TRUE(lesson().here.lesson);
  expectToBeRead("lesson");
  const Index step0 = ui.scene().cursor.lesson.step;
  for (int beats = 0; beats < 12 && ui.session().document().scene().cursor.lesson.step < step0 + 3; ++beats) {
    ui.key(Key::pageDown);
    expectToBeRead("a step of the lesson");
  }
  EXPECT_GE(ui.session().document().scene().cursor.lesson.step, step0 + 3);
  press('P');
  EXPECT_FALSE(ui.view().present);
}

}  // namespace
}  // namespace headscope::test
