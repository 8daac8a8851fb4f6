#pragma once

#include <gtest/gtest.h>

#include <string>

#include "app/pages/cost/cost_page.h"
#include "tests/support/page_check.h"

namespace headscope::test {

/// The page Cost in a window.
class CostOnScreen : public testing::Test {
 protected:
  explicit CostOnScreen(int width = 1920, int height = 1080) : ui(width, height) {
    ui.key(static_cast<app::Key>('6'));
  }
  /// Picks an entry by searching for it, because the list is longer than the window is high.
  void pick(const std::string& name, const std::string& searched) {
    ui.replaceText("cost.search", searched).clickAway().click(name);
    ui.replaceText("cost.search", "").clickAway();
  }
  const app::CostFigures& figures() { return ui.session().page<app::cost_page::Page>().state().figures; }
  const app::CostSetup& cost() { return ui.scene().cost; }

  UiDriver ui;
};

/// The page Cost in a small window.
class SmallCost : public CostOnScreen {
 protected:
  SmallCost() : CostOnScreen(1280, 720) {}
};

}  // namespace headscope::test
