// A window killed in the middle of its work: the recovery file it wrote is intact and lacks only the last
// moments.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "app/scene/recovery_store.h"
#include "app/scene/scene_json.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Recovery;
using app::RecoveryStore;
using app::Scene;
using std::chrono::steady_clock;

constexpr const char* kFolder = "HEADSCOPE_KILLED_FOLDER";
/// HEADSCOPE_KILLS=200 kills that many times, with the delay that a window uses.
constexpr const char* kKills = "HEADSCOPE_KILLS";
constexpr int kWindows = 2;  ///< open at once

std::string textOf(int window, int edit) {
  return fmt::format("window {} edit {} of the sentence", window, edit);
}
/// The edit that the text was written by; −1 if the text isn't one of the window's.
int editIn(const std::string& text, int window) {
  int found = 0, edit = 0;
  const bool whole = std::sscanf(text.c_str(), "window %d edit %d of", &found, &edit) == 2;
  return whole && found == window ? edit : -1;
}

/// Runs this program again as a window that edits until it is killed and prints the number of each edit.
class KilledWindow {
 public:
  KilledWindow(const std::filesystem::path& folder, int number) : number_(number) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    const std::string named = fmt::format("{}={}", kFolder, folder.string());
    const std::string count = fmt::format("HEADSCOPE_KILLED_NUMBER={}", number);
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::execl("/usr/bin/env", "env", named.c_str(), count.c_str(), self().c_str(),
              "--gtest_filter=Killed.DISABLED_EditsOnAndOn", "--gtest_also_run_disabled_tests",
              static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
    said_ = ::fdopen(ends[0], "r");
  }
  KilledWindow(const KilledWindow&) = delete;
  KilledWindow& operator=(const KilledWindow&) = delete;
  ~KilledWindow() {
    kill();
    std::fclose(said_);
  }
  /// Blocks until the window has made that edit. Returns false if it ended before.
  bool makes(int edit) {
    while (last_ < edit)
      if (!readLine()) return false;
    return true;
  }
  /// Kills the window and returns the last edit that it reported.
  int kill() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(std::exchange(child_, 0), nullptr, 0);
    }
    while (readLine()) continue;
    return last_;
  }
  int number() const { return number_; }

 private:
  static std::string self() { return std::filesystem::read_symlink("/proc/self/exe").string(); }
  bool readLine() {
    char line[256];
    if (!std::fgets(line, sizeof line, said_)) return false;
    int edit = 0;
    if (std::sscanf(line, "edit %d", &edit) == 1) last_ = edit;
    return true;
  }

  const int number_;
  pid_t child_ = 0;
  std::FILE* said_ = nullptr;
  int last_ = -1;
};

/// Run only by KilledWindow.
TEST(Killed, DISABLED_EditsOnAndOn) {
  const char* folder = std::getenv(kFolder);
  if (!folder) GTEST_SKIP() << "a part of Killed.WindowsLoseTheLastMomentsAtMost";
  const int window = std::atoi(std::getenv("HEADSCOPE_KILLED_NUMBER"));
  const auto store = std::make_shared<RecoveryStore>(folder);
  UiDriver ui(640, 360);
  ui.session().closing().recovery().keepIn(store);
  store->writeAside(std::getenv(kKills) ? std::chrono::milliseconds(2000) : std::chrono::milliseconds(1));
  // Earlier scenes that are unsaved too make the file large.
  for (int i = 0; i < 20; ++i) {
    Scene scene = app::openingScene();
    scene.setup.input.text = fmt::format("another scene {}", i);
    ui.session().setScene(app::openingScene());
    ui.session().scene() = scene;
    ui.frames(1);
  }
  for (int edit = 0;; ++edit) {
    ui.session().scene().setup.input.text = textOf(window, edit);
    ui.session().scene().setup.model.bias = edit % 2 == 0;
    ui.frames(1);
    std::printf("edit %d\n", edit);
    std::fflush(stdout);
  }
}

/// What was recovered of a window's work; `edit` is −1 if nothing was.
struct Found {
  int edit = -1;
  std::string problem;
};
Found readBack(const std::vector<std::shared_ptr<Recovery>>& recoveries, int window) {
  Found found;
  for (const auto& recovery : recoveries) {
    if (!recovery->problem.empty()) found.problem = recovery->problem;
    if (recovery->entries.empty()) continue;
    const auto scene = app::recoveredScene(recovery->entries.back());
    if (!scene)
      found.problem = scene.error().message;
    else if (const int edit = editIn(*scene->setup.input.text, window); edit >= 0)
      found.edit = edit;
  }
  return found;
}

/// Waits until the file that the running window writes contains at least that edit. Reads the file directly,
/// so that a torn one is noticed.
void waitUntilKept(const std::filesystem::path& folder, int window, int edit) {
  constexpr std::chrono::seconds kHang(120);
  const auto start = steady_clock::now();
  while (steady_clock::now() - start < kHang) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      const std::string text = fileText(entry.path());
      ASSERT_THAT(text, testing::EndsWith("]}\n")) << "torn";
      const std::string mark = fmt::format("window {} edit ", window);
      if (const auto at = text.rfind(mark);
          at != std::string::npos && editIn(text.substr(at), window) >= edit)
        return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL() << "edit " << edit << " of window " << window << " is not kept";
}

TEST(Killed, WindowsLoseTheLastMomentsAtMost) {
  const char* many = std::getenv(kKills);
  const int kills = many ? std::atoi(many) : 12;
  std::mt19937 random(11);
  for (int round = 0; round < kills / kWindows; ++round) {
    SCOPED_TRACE(round);
    const TemporaryFolder folder;
    std::vector<std::unique_ptr<KilledWindow>> windows;
    for (int i = 0; i < kWindows; ++i) windows.push_back(std::make_unique<KilledWindow>(folder.path(), i));
    std::vector<int> kept;
    for (const auto& window : windows) {
      kept.push_back(std::uniform_int_distribution(1, 40)(random));
      ASSERT_TRUE(window->makes(kept.back())) << "the window ended by itself";
      ASSERT_NO_FATAL_FAILURE(waitUntilKept(folder.path(), window->number(), kept.back()));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution(0, 30'000)(random)));
    std::vector<int> last;
    for (const auto& window : windows) last.push_back(window->kill());
    const auto recoveries = RecoveryStore(folder.path()).abandoned();
    EXPECT_EQ(recoveries.size(), windows.size()) << "each window has a file of its own";
    for (int i = 0; i < kWindows; ++i) {
      const Found found = readBack(recoveries, i);
      EXPECT_EQ(found.problem, "");
      EXPECT_GE(found.edit, kept[static_cast<std::size_t>(i)]);
      EXPECT_LE(found.edit, last[static_cast<std::size_t>(i)] + 1) << "what was never typed";
    }
  }
}

}  // namespace
}  // namespace headscope::test
