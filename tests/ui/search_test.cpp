// Search (Ctrl+K): everyday words find actions, controls, lessons, models, glossary terms and the manual.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/shell/manual_reader.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

class Search : public ::testing::Test {
 protected:
  /// Opens Search, types and waits until everything is read.
  void search(std::string_view words) { ui.chord(kCtrl, Key::k).draw().type(words).draw(); }
  void searchAndGo(std::string_view words) {
    search(words);
    ui.key(Key::enter).draw();
  }
  std::string text() { return *ui.scene().setup.input.text; }
  const app::ManualReader* reader() { return dynamic_cast<const app::ManualReader*>(ui.view().dialog.get()); }

  UiDriver ui;
};

TEST_F(Search, FindsByTheWordsPeopleUse) {
  const std::map<std::string, std::vector<std::string>> kRight{
      // The list of the design.
      {"softmax", {"glossary.softmax"}},
      {"what is a query", {"glossary.query"}},
      {"attention sink", {"glossary.attention sink"}},
      {"no mask", {"mask.causal"}},
      {"more heads", {"show.model.heads"}},
      {"one kv head", {"kind.mqa"}},
      {"colour blind", {"settings.vision"}},
      {"download a model", {"model.open"}},
      {"share", {"link.copy"}},
      {"induction", {"glossary.induction head"}},
      {"turn off a head", {"model.switch"}},
      // What engineers, students and lecturers would type.
      {"kv cache size", {"page.cost"}},
      {"how much memory", {"page.cost"}},
      {"bigger text", {"appearance.larger"}},
      {"undo", {"edit.undo"}},
      {"export png", {"picture.save"}},
      {"rope", {"glossary.RoPE", "set.model.position.rope"}},
      {"why divide by sqrt d", {"lessons.why_scale#", "set.model.scaled"}},
      {"mqa", {"glossary.MQA", "kind.mqa"}},
      {"next slide", {"talk.next"}},
      {"dark mode", {"appearance.theme"}},
      {"color blindness", {"settings.vision"}},
      {"what is attention?", {"glossary.attention"}},
      {"laser pointer", {"stage.laser"}},
      {"second screen", {"stage.lecturer"}},
      {"d_model", {"show.model.model_dim"}},
      {"temperature", {"glossary.temperature", "show.model.sharpness"}},
      {"Llama 3.1 8B", {"cost.model.Llama-3.1-8B"}},
      {"keyboard shortcuts", {"shortcuts"}},
      {"ten classic mistakes", {"lessons.mistakes"}},
      {"how do I save", {"scene.save"}},
      {"cost", {"page.cost"}}};
  ui.chord(kCtrl, Key::k).draw();  // everything is read
  for (const auto& [words, right] : kRight) {
    const auto found = app::searched(words, ui.session().actions().all(), *ui.session().places());
    ASSERT_FALSE(found.empty()) << words;
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < found.size() && i < 2; ++i) ids.push_back(found[i]->id);
    EXPECT_TRUE(std::any_of(ids.begin(), ids.end(),
                            [&](const std::string& id) {
                              return std::any_of(right.begin(), right.end(), [&](const std::string& each) {
                                return each.back() == '#' ? id.starts_with(each) : id == each;
                              });
                            }))
        << words << ": " << ::testing::PrintToString(ids);
  }
}

TEST_F(Search, RanksNamesBeforeOtherWordsBeforeExplanations) {
  const app::Action named{.id = "a", .name = "Save the mask"},
      other{.id = "b", .name = "Store", .words = "mask layer"},
      explained{.id = "c", .name = "Window", .about = "A mask of the last keys"};
  EXPECT_GT(named.matches("mask"), other.matches("mask"));
  EXPECT_GT(other.matches("mask"), explained.matches("mask"));
  EXPECT_GT(explained.matches("mask"), 0);
  EXPECT_EQ(explained.matches("mask of clay"), 0) << "all of the words";
  const app::Action phrase{.id = "d", .name = "Blank", .words = "no mask, empty"};
  EXPECT_GT(phrase.matches("no mask"), named.matches("mask")) << "a phrase counts as a name";
}

TEST_F(Search, EveryPlaceHasItsOwnIdAndLeadsThere) {
  ui.chord(kCtrl, Key::k).draw();
  std::set<std::string> ids;
  for (const app::Action& place : *ui.session().places()) {
    EXPECT_TRUE(ids.insert(place.id).second) << place.id;
    EXPECT_FALSE(ui.session().actions().has(place.id)) << place.id;
    EXPECT_FALSE(place.section.empty()) << place.id;
    EXPECT_TRUE(place.run) << place.id;
  }
  for (const char* kind : {"show.", "lessons.", "cost.model.", "glossary.", "manual."})
    EXPECT_GT(
        std::count_if(ids.begin(), ids.end(), [&](const std::string& id) { return id.starts_with(kind); }), 5)
        << kind;
}

TEST_F(Search, GlossaryTermAndManualSectionOpenThere) {
  searchAndGo("attention sink");
  ASSERT_EQ(ui.dialog(), "manual");
  EXPECT_EQ(reader()->chapter(), "glossary");
  EXPECT_EQ(reader()->heading(), "attention sink");
  ui.key(Key::escape);
  search("undo and recovery");
  ui.click("palette.manual.settings#undo-and-recovery").draw();
  ASSERT_EQ(ui.dialog(), "manual");
  EXPECT_EQ(reader()->chapter(), "settings");
  EXPECT_EQ(reader()->heading(), "Undo and recovery");
}

TEST_F(Search, SinksAreTaughtByALesson) {
  search("attention sink");
  EXPECT_TRUE(ui.has("palette.lessons.sinks"));
}

TEST_F(Search, GlossaryTermIsScrolledIntoView) {
  searchAndGo("what is a weight");
  EXPECT_TRUE(ui.visible("manual.term")) << "the last row of a long table";
}

TEST_F(Search, SliderGetsTheKeyboard) {
  const app::Index before = ui.scene().setup.model.heads;
  ui.key(static_cast<Key>('3'));
  searchAndGo("more heads");
  EXPECT_EQ(ui.scene().cursor.page, "heads");
  EXPECT_EQ(ui.scene().setup.model.heads, before) << "finding changes nothing";
  ui.key(Key::right);
  EXPECT_GT(ui.scene().setup.model.heads, before);
}

TEST_F(Search, SliderThatIsNotShownSaysSo) {
  ASSERT_NE(ui.scene().setup.weights.source, app::WeightSource::random);
  search("gain");
  ui.click("palette.show.weights.gain").wait(0.2);
  EXPECT_THAT(ui.view().messages.notice, testing::HasSubstr("“Gain” isn't shown"));
}

TEST_F(Search, SliderOfAnotherViewIsShown) {
  search("budget");
  ui.click("palette.show.cost.cache.budget").wait(0.2);
  EXPECT_EQ(ui.scene().cursor.page, "cache");
  EXPECT_EQ(ui.scene().cursor.cacheView, app::CacheView::eviction);
  EXPECT_TRUE(ui.has("cache.budget"));
}

TEST_F(Search, SliderIsOnTheWindowsPageNotOnALessonsStage) {
  searchAndGo("divide by sqrt d");
  ASSERT_EQ(ui.session().document().scene().cursor.page, "lessons");
  searchAndGo("more heads");
  EXPECT_EQ(ui.session().document().scene().cursor.page, "heads");
  EXPECT_TRUE(ui.has("heads"));
}

TEST_F(Search, LessonStepAndModelOpen) {
  searchAndGo("divide by sqrt d");
  EXPECT_EQ(ui.dialog(), "");
  const auto& lesson = ui.session().document().scene().cursor.lesson;
  EXPECT_EQ(ui.session().document().scene().cursor.page, "lessons");
  EXPECT_EQ(lesson.lesson, "why_scale");
  EXPECT_EQ(lesson.step, 3);
  ui.key(static_cast<Key>('1'));
  searchAndGo("Llama 3.1 8B");
  EXPECT_EQ(ui.scene().cursor.page, "cost");
  EXPECT_EQ(ui.scene().cost.model, "Llama-3.1-8B");
}

TEST_F(Search, NeverReplacesTheTextByItself) {
  const std::string before = text();
  searchAndGo("turn off a head");
  EXPECT_EQ(text(), before);
  ui.key(Key::escape);
  searchAndGo("zebras quietly juggle xylophones");
  EXPECT_EQ(ui.dialog(), "palette") << "nothing matches and nothing is chosen";
  EXPECT_EQ(text(), before);
  ui.key(Key::down).key(Key::enter);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_EQ(text(), "zebras quietly juggle xylophones");
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(text(), before);
}

TEST_F(Search, OffersTheTextInTheLastRow) {
  search("attention sink");
  const std::map<std::string, ImRect> rows = app::allTracked();
  ASSERT_TRUE(rows.contains("palette.sentence"));
  for (const std::string& name : ui.names("palette.")) {
    if (name == "palette.sentence") continue;
    EXPECT_LT(rows.at(name).Min.y, rows.at("palette.sentence").Min.y) << name;
  }
  ui.key(Key::up).key(Key::enter);  // the list scrolls to its last row
  EXPECT_EQ(text(), "attention sink");
}

TEST_F(Search, EscapeClosesAListBeforeItsDialog) {
  ui.chord(kCtrl, Key::comma).draw();
  ASSERT_EQ(ui.dialog(), "settings");
  ui.click("settings.colormap");
  ASSERT_TRUE(ui.has("settings.colormap.cividis"));
  ui.key(Key::escape);
  EXPECT_FALSE(ui.has("settings.colormap.cividis"));
  EXPECT_EQ(ui.dialog(), "settings");
  ui.key(Key::escape);
  EXPECT_EQ(ui.dialog(), "");
}

TEST_F(Search, EscapeClosesOneThingAtATime) {
  ui.session().scene().cursor.focus = 2;
  ui.view().present = true;
  ui.draw();
  search("heads");
  ui.key(Key::escape);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_EQ(ui.scene().cursor.focus, 2);
  ui.key(Key::escape);
  EXPECT_EQ(ui.scene().cursor.focus, -1);
  EXPECT_TRUE(ui.view().present);
  ui.view().drawer = true;
  ui.key(Key::escape);
  EXPECT_FALSE(ui.view().present);
  EXPECT_TRUE(ui.view().drawer) << "it wasn't seen while presenting";
  ui.key(Key::escape);
  EXPECT_FALSE(ui.view().drawer);
}

}  // namespace
}  // namespace headscope::test
