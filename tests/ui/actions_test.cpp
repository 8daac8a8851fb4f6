// Every action where it can be asked for: an action may take away what it acts on.

#include <cstdlib>
#include <set>

#include "tests/ui/lessons_support.h"

namespace headscope::test {
namespace {

using app::Key;

class Stages : public SmallLessons {
 protected:
  /// The step as the lesson has it, without waiting for what it computes.
  void show(const std::string& lesson, app::Index step, bool answered) {
    app::Scene scene = app::openingScene();
    scene.cursor.page = "lessons";
    scene.cursor.lesson = {lesson, step, -1, answered};
    ui.session().setScene(scene);
    ui.frames(1);
    ASSERT_TRUE(page().lesson && page().stage) << lesson << " " << step;
  }
};

/// On every page that a lesson has on its stage; HEADSCOPE_ALL_VIEWS=1 for every step, before its question
/// and after it.
TEST_F(Stages, EveryActionCanBeAskedForInEveryLesson) {
  std::vector<std::string> actions;
  for (const app::Action& action : ui.session().actions().all())
    if (action.id != "quit") actions.push_back(action.id);
  ASSERT_GE(actions.size(), 100u);
  const auto library = page().library;
  ASSERT_GE(library->lessons.size(), 10u);
  const app::Preferences preferences = ui.view().preferences;
  const auto askForAll = [&](const app::Lesson& lesson, std::size_t step, bool answered) {
    for (const std::string& action : actions) {
      SCOPED_TRACE(lesson.id + ", step " + std::to_string(step) + (answered ? ", answered: " : ": ") +
                   action);
      ASSERT_NO_FATAL_FAILURE(show(lesson.id, static_cast<app::Index>(step), answered));
      ui.view().request(action);
      ui.frames(2);  // some act in the next one
      ui.view().dialog.reset();
      ui.view().present = ui.view().fullScreen = false;
      ui.view().preferences = preferences;
    }
  };
  const bool everyStep = std::getenv("HEADSCOPE_ALL_VIEWS");
  for (const app::LessonEntry& entry : library->lessons) {
    std::set<std::string> shown;
    const auto& steps = entry.lesson->steps;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      if (!shown.insert(steps[step].scene.cursor.page).second && !everyStep) continue;
      ASSERT_NO_FATAL_FAILURE(askForAll(*entry.lesson, step, false));
      if (everyStep && steps[step].question) {
        ASSERT_NO_FATAL_FAILURE(askForAll(*entry.lesson, step, true));
      }
    }
  }
  ui.draw();
  EXPECT_FALSE(ui.session().wantsToQuit());
}

TEST_F(Stages, ResetInALessonLeavesItAndUndoBringsOnesOwnBack) {
  app::Scene mine = own();
  mine.setup.input.text = "my own words";
  ui.session().setScene(mine);
  open("why_scale");
  ui.session().scene().setup.input.text = "typed on the stage";
  ui.draw();
  ui.chord(kCtrl, Key::n);
  ui.draw();
  EXPECT_EQ(own().cursor.page, "heads");
  EXPECT_EQ(ui.scene().setup, app::openingScene().setup);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup.input.text, "typed on the stage") << "what was changed there is a step, too";
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup.input.text, "my own words");
}

}  // namespace
}  // namespace headscope::test
