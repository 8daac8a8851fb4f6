// Requests every action in every place that offers it: an action may remove what it acts on.

#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "app/pages/pages.h"
#include "tests/ui/lessons/lessons_support.h"

namespace headscope::test {
namespace {

using app::Key;

class Stages : public SmallLessons {
 protected:
  /// Shows the step as the lesson defines it, without waiting for its computations.
  void show(const std::string& lesson, app::Index step, bool answered) {
    app::Scene scene = app::openingScene();
    scene.cursor.page = "lessons";
    scene.cursor.lesson = {lesson, step, -1, answered};
    ui.session().setScene(scene);
    ui.frames(1);
    ASSERT_TRUE(page().here.lesson && page().stage.document) << lesson << " " << step;
  }

  /// Requests each action of the program except "quit", calling `show` before each; `presented` or in the
  /// window.
  void askForAll(const std::function<void()>& show, bool presented) {
    const app::Preferences preferences = ui.view().preferences;
    std::vector<std::string> actions;
    for (const app::Action& action : ui.session().actions().all())
      if (action.id != "quit") actions.push_back(action.id);
    ASSERT_GE(actions.size(), 100u);
    for (const std::string& action : actions) {
      SCOPED_TRACE(action);
      ui.view().present = presented;
      ASSERT_NO_FATAL_FAILURE(show());
      ui.view().request(action);
      ui.frames(2);  // some act in the next frame
      if (action.starts_with("talk.ready.") || action.starts_with("talk.give."))
        ui.draw();  // it comes when its file is read
      ui.view().dialog.reset();
      ui.view().present = ui.view().fullScreen = false;
      ui.view().preferences = preferences;
    }
    ui.draw();
    EXPECT_FALSE(ui.session().closing().done());
  }
};

/// Those who look for an action in the list can tell it from the others of all pages.
TEST_F(Stages, ActionsHaveDifferentNames) {
  std::map<std::string, std::string> ids;
  for (const app::Action& action : ui.session().actions().all()) {
    const auto [other, added] = ids.emplace(action.name, action.id);
    EXPECT_TRUE(added) << action.name << ": " << other->second << " and " << action.id;
  }
}

/// On every page that a lesson shows on its stage. With HEADSCOPE_ALL_VIEWS=1, on every step, before and
/// after its answer.
TEST_F(Stages, LessonPagesHandleEveryAction) {
  const auto library = page().list.library;
  ASSERT_GE(library->lessons.size(), 10u);
  const bool everyStep = std::getenv("HEADSCOPE_ALL_VIEWS");
  for (const app::LessonEntry& entry : library->lessons) {
    std::set<std::string> shown;
    const auto& steps = entry.lesson->steps;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      if (!shown.insert(steps[step].scene.cursor.page).second && !everyStep) continue;
      for (const bool answered : {false, true}) {
        if (answered && !(everyStep && steps[step].question)) continue;
        SCOPED_TRACE(entry.lesson->id + ", step " + std::to_string(step) + (answered ? ", answered" : ""));
        ASSERT_NO_FATAL_FAILURE(
            askForAll([&] { show(entry.lesson->id, static_cast<app::Index>(step), answered); }, false));
      }
    }
  }
}

/// Every page that a talk can show, as one of the talk's views, in the window and presented.
TEST_F(Stages, TalkViewsHandleEveryAction) {
  std::vector<std::string> pages;
  for (const app::PageRow& row : app::pageTable())
    if (row.info.key != "talk" && row.info.key != "lessons") pages.emplace_back(row.info.key);
  // New views each time: changed ones would be shown as the stage left them.
  const auto talk = [&](std::size_t at) {
    app::Scene scene = app::openingScene(), view = app::openingScene();
    for (std::size_t i = 0; i < pages.size(); ++i) {
      view.cursor.page = pages[i];
      app::addView(scene, {pages[i], "notes", app::viewScene(view)}, static_cast<int>(i) - 1);
    }
    scene.cursor.page = "talk";
    scene.cursor.view = static_cast<app::Index>(at);
    return scene;
  };
  for (std::size_t view = 0; view < pages.size(); ++view)
    for (const bool presented : {false, true}) {
      SCOPED_TRACE(pages[view] + (presented ? ", presented" : ""));
      const auto put = [&] {
        ui.session().setScene(talk(view));
        ui.frames(1);
      };
      // Everything is computed once here. Waiting for it before each action would take minutes.
      put();
      ui.draw();
      const auto show = [&] {
        put();
        if (ui.scene().cursor.page == pages[view]) return;
        ui.draw();  // a pasted link has arrived late
        put();
        ASSERT_EQ(ui.scene().cursor.page, pages[view]);
      };
      ASSERT_NO_FATAL_FAILURE(askForAll(show, presented));
    }
}

TEST_F(Stages, ResetLeavesLessonAndUndoRestoresOwnScene) {
  app::Scene mine = own();
  mine.setup.input.text = "my own words";
  ui.session().setScene(mine);
  open("why_scale");
  ui.session().scene().setup.input.text = "typed on the stage";
  ui.draw().chord(kCtrl, Key::n);
  EXPECT_EQ(own().cursor.page, "heads");
  EXPECT_EQ(ui.scene().setup, app::openingScene().setup);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup.input.text, "typed on the stage") << "what was changed there is a step, too";
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup.input.text, "my own words");
}

}  // namespace
}  // namespace headscope::test
