// The machines of the cost page as a table, and the file that stores changes to it.

#include <gtest/gtest.h>

#include <filesystem>

#include "app/pages/cost/cost_page.h"
#include "app/platform/preferences.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

class MachinesOnScreen : public testing::Test {
 protected:
  MachinesOnScreen() {
    std::filesystem::create_directories(app::configurationFolder());
    ui.key(static_cast<Key>('5')).click("machines.edit").frames(2);
  }
  ~MachinesOnScreen() override { std::filesystem::remove(file()); }

  static std::filesystem::path file() { return app::configurationFolder() / app::kMachinesFile; }
  /// The catalogue as the next start of the program will load it.
  app::CostCatalogue kept() {
    ui.draw();
    return app::loadCatalogue(app::configurationFolder());
  }
  const app::cost_page::State& page() { return ui.session().page<app::cost_page::Page>().state(); }
  const attention::Machine& machine(const std::string& name) {
    const attention::Machine* found = attention::findMachine(page().catalogue.machines, name);
    if (!found) throw std::runtime_error("there is no machine " + name);
    return *found;
  }
  void type(const std::string& cell, const std::string& text) {
    ui.click(cell).frames(2).chord(kCtrl, Key::a).type(text).key(Key::enter).frames(2);
  }

  UiDriver ui;
};

TEST_F(MachinesOnScreen, TypedBandwidthTakesEffectAndIsSaved) {
  const double before = page().figures.serving.weightSeconds;
  type("machine.H200.bandwidth", "2.4");
  EXPECT_EQ(page().figures.machine.bandwidth, 2.4e12);
  EXPECT_NEAR(page().figures.serving.weightSeconds, 2 * before, 1e-9 * before);
  EXPECT_EQ(*attention::findMachine(kept().machines, "H200"), machine("H200"));
  ui.click("machine.H200.remove");
  EXPECT_EQ(page().figures.machine.bandwidth, 4.8e12) << "as published";
  EXPECT_EQ(kept().machines, attention::machines());
}

TEST_F(MachinesOnScreen, AddsRenamesSelectsAndRemovesCustomMachine) {
  ui.click("machines.add").frames(2).chord(kCtrl, Key::a).type("X200").key(Key::enter);
  ui.frames(2);
  type("machine.X200.memory", "180");
  type("machine.X200.flops", "2250");
  EXPECT_EQ(machine("X200").memoryGb, 180);
  EXPECT_EQ(machine("X200").flops, 2250e12);
  EXPECT_EQ(machine("X200").bandwidth, 4.8e12) << "as the chosen one's";
  EXPECT_EQ(attention::findMachine(kept().machines, "My GPU"), nullptr) << "its first name";
  ui.click("machines.done");
  EXPECT_EQ(ui.dialog(), "");
  ui.choose("machine", "X200");
  EXPECT_EQ(page().figures.machine.memoryGb, 180);
  ui.click("machines.edit").frames(2);
  type("machine.X200.name", "X200 SXM");
  EXPECT_EQ(ui.scene().cost.device, "X200 SXM") << "who chose it keeps it";
  ui.click("machine.X200 SXM.remove");
  EXPECT_EQ(ui.scene().cost.device, app::CostSetup().device);
  EXPECT_EQ(kept().machines, attention::machines());
}

TEST_F(MachinesOnScreen, ReportsInvalidNumberAndKeepsEditing) {
  for (const char* wrong : {"fast", "-3", "0", "4,8,1", "1e99", "nan"}) {
    type("machine.H200.bandwidth", wrong);
    EXPECT_TRUE(ui.has("machines.problem")) << wrong;
    EXPECT_EQ(page().figures.machine.bandwidth, 4.8e12) << wrong;
  }
  EXPECT_FALSE(std::filesystem::exists(file())) << "nothing was changed";
  ui.chord(kCtrl, Key::a).type("5").key(Key::enter).frames(2);
  EXPECT_FALSE(ui.has("machines.problem"));
  EXPECT_EQ(page().figures.machine.bandwidth, 5e12);
}

TEST_F(MachinesOnScreen, RefusesDuplicateMachineName) {
  ui.click("machines.add").frames(2).chord(kCtrl, Key::a).type("H200").key(Key::enter);
  ui.frames(2);
  EXPECT_TRUE(ui.has("machines.problem"));
  EXPECT_EQ(machine("My GPU").memoryGb, 141);
}

TEST_F(MachinesOnScreen, EditingKeepsOtherEntriesInFile) {
  putFile(file(), R"([{"name": "Broken", "memory_gb": -1}, {"name": "Mine", "memory_gb": 64,
                      "bandwidth_gb": 100, "tflops": 5}])");
  type("machine.H200.memory", "140");
  const app::CostCatalogue catalogue = kept();
  EXPECT_EQ(attention::findMachine(catalogue.machines, "H200")->memoryGb, 140);
  EXPECT_NE(attention::findMachine(catalogue.machines, "Mine"), nullptr);
  EXPECT_THAT(catalogue.problems, testing::ElementsAre(HasSubstr("entry 1: memory_gb")));
}

TEST_F(MachinesOnScreen, ReportsFileThatIsNotAListAndKeepsIt) {
  putFile(file(), "{\"machines\": 3}");
  type("machine.H200.memory", "140");
  ui.draw();
  EXPECT_THAT(page().machineProblem, HasSubstr("machines.json is not a JSON list"));
  EXPECT_TRUE(ui.has("machines.problem"));
  EXPECT_EQ(page().figures.machine.memoryGb, 140) << "until the program ends";
  EXPECT_EQ(fileText(file()), "{\"machines\": 3}");
}

}  // namespace
}  // namespace headscope::test
