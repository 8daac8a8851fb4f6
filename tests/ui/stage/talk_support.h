#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "app/pages/talk/talk_page.h"
#include "app/platform/ui_state.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {

class Talk : public testing::Test {
 protected:
  Talk() { ui.draw(); }

  const app::Scene& own() { return ui.session().document().scene(); }
  const app::talk_page::State& state() { return ui.session().page<app::talk_page::Page>().state(); }
  void go(const std::string& page) { ui.request("page." + page); }
  void add() { ui.chord(kCtrlShift, app::Key::a); }
  void press(app::Key key, app::Mods mods = {}) { ui.key(key, mods); }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const app::TalkView& view : own().talk->views) all.push_back(view.name);
    return all;
  }
  /// Adds views of Heads, Cache and Cost, each with a different number of kv heads.
  void threeViews() {
    for (const auto& [page, kvHeads] : {std::pair("heads", 8), std::pair("cache", 2), std::pair("cost", 1)}) {
      go(page);
      ui.session().scene().setup.model.kvHeads = kvHeads;
      ui.draw();
      add();
    }
    go("talk");
    press(app::Key::home);
  }
  std::string shownPage() { return ui.scene().cursor.page; }

  UiDriver ui{1280, 720};
};

}  // namespace headscope::test
