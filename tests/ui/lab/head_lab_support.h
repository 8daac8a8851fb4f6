#pragma once

// Opens one of the lab's tabs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/platform/ui_state.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "tests/support/page_check.h"

namespace headscope::test {

class LabTabOnScreen : public testing::Test {
 protected:
  explicit LabTabOnScreen(const std::string& tab, int width = 1920, int height = 1080) : ui(width, height) {
    ui.key(static_cast<app::Key>('8')).click("lab.tab." + tab);
  }
  const app::head_lab_page::State& page() { return ui.session().page<app::head_lab_page::Page>().state(); }
  const app::Setup& setup() { return ui.scene().setup; }
  const attention::Table& table() { return *setup().input.table; }
  void park() { ui.park().wait(0.3); }
  /// All texts on the page, one per line.
  std::string written() {
    app::uiState().watches = true;
    ui.screenshot();
    std::string texts;
    for (const app::DrawnText& text : app::uiState().texts) texts += text.text + "\n";
    return texts;
  }
  void expectTidy(const std::string& what) {
    park();
    EXPECT_THAT(overlaps(ui), testing::IsEmpty()) << what;
    EXPECT_THAT(cutOff(ui), testing::IsEmpty()) << what;
  }
  void openModel() {
    app::Scene scene = ui.scene();
    app::adoptModel(scene, app::kLearned, *app::openModel(app::kLearned));
    scene.setup.subject.layer = 1;
    ui.show(scene);
  }
  /// The middle of a tracked control.
  ImVec2 middle(const std::string& name) { return ui.find(name).GetCenter(); }

  UiDriver ui;
};

}  // namespace headscope::test
