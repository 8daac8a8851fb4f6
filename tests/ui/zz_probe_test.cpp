#include <gtest/gtest.h>
#include "tests/support/ui_driver.h"
#include "tests/support/compare_image.h"
namespace headscope::test { namespace {
TEST(Probe, Drawer) {
  UiDriver ui(1280, 720);
  ui.key(app::Key::r);
  ui.moveTo(1200, 300);
  writePng("/tmp/drawer.png", ui.screenshot());
}
TEST(Probe, Outside) {
  UiDriver ui;
  ui.chord(kCtrl, app::Key::o);
  ui.moveTo(100, 450); ui.press(); ui.release();
  EXPECT_EQ(ui.view().dialog, app::Dialog::none);
}
TEST(Probe, Present) {
  UiDriver ui;
  ui.park();
  const auto a = ui.screenshot();
  ui.key(app::Key::p);
  ui.click("head.5");
  ui.key(app::Key::escape);
  ui.key(app::Key::escape);
  ui.session().scene().cursor = app::openingScene().cursor;
  ui.park();
  const auto b = ui.screenshot();
  for (int y = 0; y < 900; ++y) for (int x = 0; x < 1600; ++x) if (!std::equal(&a.rgba[(y*1600+x)*4], &a.rgba[(y*1600+x)*4+4], &b.rgba[(y*1600+x)*4])) printf("%d %d: %d %d %d / %d %d %d\n", x, y, a.rgba[(y*1600+x)*4], a.rgba[(y*1600+x)*4+1], a.rgba[(y*1600+x)*4+2], b.rgba[(y*1600+x)*4], b.rgba[(y*1600+x)*4+1],b.rgba[(y*1600+x)*4+2]);
}
}}
