// The lab when presenting: captions of one line are complete, and nothing overlaps.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/support/matchers.h"
#include "tests/ui/lab/head_lab_support.h"

namespace headscope::test {
namespace {

using app::Key;

class PresentedLab : public LabTabOnScreen {
 protected:
  PresentedLab() : LabTabOnScreen("weights") { ui.key(Key::p); }

  /// Runs `check` on a tab at both screen sizes.
  template <class Check>
  void onScreens(const std::string& tab, Check check) {
    for (const auto& [width, height] : {std::pair{1920, 1080}, {1280, 720}}) {
      SCOPED_TRACE(fmt::format("{} at {} × {}", tab, width, height));
      ui.resize(width, height);
      ui.session().scene().cursor.lab.tab = tab;
      ui.draw();
      park();
      check();
    }
  }
  void expectWhole(const std::string& what) {
    EXPECT_THAT(overlaps(ui), IsEmpty()) << what;
    EXPECT_THAT(cutOff(ui, Scrolling::doesnt), IsEmpty()) << what;
  }
};

TEST_F(PresentedLab, MistakeCaptionsAreComplete) {
  onScreens("mistakes", [&] {
    ui.key(Key::home);
    for (const attention::MistakeInfo& info : attention::mistakes()) {
      ui.draw();
      park();
      EXPECT_THAT(written(), AllOf(HasSubstr(std::string(info.caption)), Not(HasSubstr("…")))) << info.key;
      ui.key(Key::right);
    }
  });
}

TEST_F(PresentedLab, DetectorsAndViewsAreNotTruncated) {
  onScreens("detectors", [&] {
    expectWhole("scores");
    EXPECT_TRUE(ui.visible("stage.detect.map")) << "the head that the scores are of";
    EXPECT_THAT(written(), AllOf(HasSubstr("previous token 0.94 over 11 rows"), Not(HasSubstr("…"))));
    for (const std::string& column : ui.names("detect.column.")) {
      const ImRect header = ui.find(column);
      for (const app::DrawnText& text : app::uiState().texts)
        EXPECT_FALSE(header.Contains(text.area.GetCenter()) && text.text.ends_with("…")) << column;
    }
  });
  ui.session().scene().cursor.lab.picture = app::HeadPicture::mean;
  onScreens("views", [&] {
    expectWhole("views");
    for (const char* picture : {"weights", "value_weighted", "first_out", "mean", "difference", "rollout"}) {
      ui.click(std::string("views.") + picture);
      park();
      EXPECT_THAT(written(), Not(HasSubstr("…"))) << picture;
    }
    ui.click("views.mean");
    EXPECT_THAT(written(), HasSubstr("Mean over 8 heads"));
  });
}

TEST_F(PresentedLab, OtherTabsAreNotTruncated) {
  for (const char* tab : {"weights", "ablation", "head_count"})
    onScreens(tab, [&] {
      expectWhole(tab);
      EXPECT_THAT(written(), Not(HasSubstr("…")));
    });
}

}  // namespace
}  // namespace headscope::test
