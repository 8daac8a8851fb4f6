#pragma once

// The page of lessons, opened at two window sizes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "app/pages/lessons/lessons_page.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {

class Lessons : public testing::Test {
 protected:
  explicit Lessons(int width = 1920, int height = 1080) : ui(width, height) {
    ui.key(static_cast<app::Key>('9'));
  }

  const app::lessons_page::State& page() { return ui.session().page<app::lessons_page::Page>().state(); }
  const app::Scene& own() { return ui.session().document().scene(); }
  const app::LessonCursor& at() { return own().cursor.lesson; }

  void open(const std::string& id, app::Index step = 0) {
    app::Scene scene = own();
    scene.cursor.page = "lessons";
    scene.cursor.lesson = {id, step, -1, false};
    ui.show(scene);
    ASSERT_TRUE(page().here.lesson) << id;
  }
  void next() { ui.key(app::Key::pageDown); }
  void back() { ui.key(app::Key::pageUp); }
  app::Index right() {
    const auto& options = page().here.study->options;
    const auto found =
        std::find_if(options.begin(), options.end(), [](const auto& option) { return option.holds; });
    return found - options.begin();
  }

  UiDriver ui;
};

class SmallLessons : public Lessons {
 protected:
  SmallLessons() : Lessons(1280, 720) {}
};

}  // namespace headscope::test
