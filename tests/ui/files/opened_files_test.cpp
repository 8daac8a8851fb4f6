// The drawing thread opens no file, from the program's start on.

#include "tests/support/opened_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "app/pages/pages.h"
#include "app/platform/assets.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

/// Excludes the graphics driver's files, and the shaders, without which nothing can be drawn.
bool isOurs(const std::string& path) {
  const std::string assets = app::assetFolder().string();
  const bool font = path.ends_with(".ttf") || path.ends_with(".otf") || path.ends_with(".ttc");
  return font || (path.starts_with(assets) && path.find("/shaders/") == std::string::npos);
}

TEST(OpenedFiles, DrawingThreadOpensNoFiles) {
  bool watches = false, sees = false;
  std::vector<std::string> ours;
  std::thread drawing([&] {
    watches = watchOpenedFiles();
    UiDriver ui;
    for (const app::PageRow& page : app::pageTable()) {
      ui.session().scene().cursor.page = page.info.key;
      ui.draw();
    }
    ui.session().scene().setup.input.text = "ສະບາຍດີ नमस्ते";
    ui.draw();
    for (const std::string& path : openedFiles()) {
      sees = sees || path.find("/shaders/") != std::string::npos;
      if (isOurs(path)) ours.push_back(path);
    }
  });
  drawing.join();
  if (!watches) GTEST_SKIP() << "this system has no filters of system calls";
  EXPECT_TRUE(sees);
  EXPECT_THAT(ours, testing::IsEmpty());
}

}  // namespace
}  // namespace headscope::test
