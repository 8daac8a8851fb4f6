// The person's own machines on the cost page: the file they are read from, and its errors.

#include <filesystem>

#include "app/platform/preferences.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/cost/cost_screen.h"

namespace headscope::test {
namespace {

using app::Key;

class MachinesOnScreen : public CostOnScreen {
 protected:
  MachinesOnScreen() { std::filesystem::create_directories(app::configurationFolder()); }
  ~MachinesOnScreen() override { std::filesystem::remove(file()); }

  static std::filesystem::path file() { return app::configurationFolder() / app::kMachinesFile; }
  /// Writes the file while another page is shown.
  void put(const std::string& text) {
    ui.key(static_cast<Key>('1'));
    putFile(file(), text);
    ui.key(static_cast<Key>('6')).draw();
  }
};

constexpr const char* kMine = R"([{"name": "Mine", "memory_gb": 64, "bandwidth_gb": 800, "tflops": 90},
                                  {"name": "H200", "memory_gb": 140, "bandwidth_gb": 4800, "tflops": 989}])";

TEST_F(MachinesOnScreen, ReadsFileWhenPageIsShown) {
  put(kMine);
  EXPECT_EQ(figures().machine.memoryGb, 140) << "replaces the published one";
  ui.choose("machine", "Mine");
  EXPECT_EQ(figures().machine.memoryGb, 64);
  EXPECT_EQ(figures().machine.source, "your machines.json");
}

TEST_F(MachinesOnScreen, ReportsFileThatIsNotAList) {
  put("{\"machines\": 3}");
  EXPECT_THAT(ui.view().messages.error, HasSubstr("machines.json is not a JSON list"));
  EXPECT_EQ(figures().machine.memoryGb, 141) << "as published";
}

TEST_F(MachinesOnScreen, EditTellsWhereTheFileIs) {
  ui.click("machines.edit");
  EXPECT_THAT(ui.view().messages.notice, HasSubstr(attention::shownPath(file())));
}

TEST_F(MachinesOnScreen, ErrorGoesWhenTheFileIsMended) {
  put("{\"machines\": 3}");
  ASSERT_NE(ui.view().messages.error, "");
  put(kMine);
  EXPECT_EQ(ui.view().messages.error, "");
}

}  // namespace
}  // namespace headscope::test
