// Only changed areas are redrawn. On every page and after every step, this gives the same picture as a full
// redraw.

#include <gtest/gtest.h>

#include "render/gl.h"
#include "tests/support/compare_image.h"
#include "tests/support/ui_driver.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

app::InputEvent mouse(app::InputEvent::Kind kind, float x, float y) {
  app::InputEvent event;
  event.kind = kind;
  event.x = x;
  event.y = y;
  return event;
}

/// A user whose every frame is drawn.
class Seen {
 public:
  Seen() {
    glDisable(GL_RASTERIZER_DISCARD);
    ui_.app().forgetFrame();
  }
  UiDriver& ui() { return ui_; }

  /// The number of pixels in which the incrementally drawn picture differs from a full redraw.
  int pixelsMissed() {
    ui_.draw();
    ui_.app().frame(0);
    const render::Image drawn = ui_.app().image();
    ui_.app().forgetFrame();
    ui_.app().frame(0);
    return pixelsApart(drawn, ui_.app().image());
  }

 private:
  UiDriver ui_{960, 600};
};

TEST(Damage, IncrementalDrawingMatchesFullRedraw) {
  Seen seen;
  UiDriver& ui = seen.ui();
  const app::Scene scene = ui.scene();
  for (const PageView& view : pageViews()) {
    SCOPED_TRACE(view.name);
    ui.session().setScene(withView(scene, view));
    EXPECT_EQ(seen.pixelsMissed(), 0);
    ui.app().input().push(mouse(app::InputEvent::Kind::mouseMove, 480, 260));
    EXPECT_EQ(seen.pixelsMissed(), 0) << "pointed at";
    ui.app().input().push(mouse(app::InputEvent::Kind::wheel, 0, -2));
    ui.session().scene().setup.model.sharpness = 1.3f;
    EXPECT_EQ(seen.pixelsMissed(), 0) << "scrolled and sharper";
  }
}

TEST(Damage, RedrawsAfterOverlaysThemesAndResizing) {
  Seen seen;
  UiDriver& ui = seen.ui();
  ui.draw();
  for (const app::Key key : {app::Key::k, app::Key::escape}) {
    ui.chord(kCtrl, key);
    EXPECT_EQ(seen.pixelsMissed(), 0) << "command palette";
  }
  ui.chord(kCtrl, app::Key::l);
  EXPECT_EQ(seen.pixelsMissed(), 0) << "in light";
  ui.key(app::Key::p);
  EXPECT_EQ(seen.pixelsMissed(), 0) << "presented";
  ui.key(app::Key::escape).replaceText("text", "une phrase, 中文 और हिन्दी");
  EXPECT_EQ(seen.pixelsMissed(), 0) << "letters of other fonts";
  ui.resize(1600, 900, 1.25f);
  EXPECT_EQ(seen.pixelsMissed(), 0) << "in another size";
}

TEST(Damage, UnchangedFrameDrawsNothing) {
  Seen seen;
  seen.ui().draw();
  seen.ui().app().frame(0);
  glClearColor(1, 0, 0, 1);
  glDisable(GL_SCISSOR_TEST);
  glClear(GL_COLOR_BUFFER_BIT);
  seen.ui().app().frame(0);
  const render::Image still = seen.ui().app().image();
  for (std::size_t i = 0; i < still.rgba.size(); i += 4)
    ASSERT_TRUE(still.rgba[i] == 255 && still.rgba[i + 1] == 0) << "at byte " << i;
}

TEST(Damage, NoListIsUploadedEmpty) {
  UiDriver ui(960, 600);
  ui.draw();
  ImDrawData& drawn = *ImGui::GetDrawData();
  ASSERT_GT(drawn.CmdListsCount, 0);
  std::vector<int> before;
  for (int i = 0; i < drawn.CmdListsCount; ++i) before.push_back(drawn.CmdLists[i]->VtxBuffer.Size);
  const render::PixelBox corner{0, 0, 1, 1};
  app::withinBoxes(drawn, {&corner, 1}, [&] {
    for (int i = 0; i < drawn.CmdListsCount; ++i) {
      EXPECT_GT(drawn.CmdLists[i]->VtxBuffer.Size, 0);
      EXPECT_GT(drawn.CmdLists[i]->IdxBuffer.Size, 0);
    }
  });
  for (int i = 0; i < drawn.CmdListsCount; ++i)
    EXPECT_EQ(drawn.CmdLists[i]->VtxBuffer.Size, before[static_cast<std::size_t>(i)]);
}

}  // namespace
}  // namespace headscope::test
