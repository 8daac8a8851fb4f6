// Other programs and other windows on Windows. Returns how much doesn't hold. Started with "child", it is the
// other program.

#include "tests/windows/platform.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "app/platform/child_program.h"
#include "app/platform/folders.h"
#include "app/platform/sent_files.h"

namespace headscope::app {

namespace {

namespace fs = std::filesystem;

/// Whether it comes true within ten seconds.
template <typename Condition>
bool soon(const Condition& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

int failed(bool holds, const char* what) {
  if (!holds) std::printf("FAILED: %s\n", what);
  return holds ? 0 : 1;
}

int childPrograms() {
  std::atomic<int> woken = 0;
  const std::vector<std::string> words{"child", R"(ä "quoted" 中\)", "", R"(C:\a b\)"};
  auto child = ChildProgram::start(thisProgram().string(), words, [&] { ++woken; });
  if (!child) return failed(false, child.error().message.c_str());
  int failures = failed(soon([&] { return (*child)->ended().has_value(); }), "a child program ends");
  failures += failed((*child)->ended() == 7, "its exit code is known");
  failures +=
      failed((*child)->said() == words[1] + "|" + words[2] + "|" + words[3], (*child)->said().c_str());
  failures += failed(woken > 1, "its messages wake");
  auto waiting = ChildProgram::start(thisProgram().string(), {"child"}, [] {});
  if (!waiting) return failures + failed(false, "a second one starts");
  (*waiting)->stop();
  return failures +
         failed(soon([&] { return (*waiting)->ended().has_value(); }), "a child program is stopped");
}

int sentFiles(const fs::path& folder) {
  std::atomic<int> woken = 0;
  const fs::path path = folder / "gesandt ü 中.json";
  int failures = 0;
  {
    SentFiles older(folder, "1", [] {});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // times of files are coarse
    SentFiles newer(folder, "1", [&] { ++woken; });
    failures += failed(sendFile(folder, "1", path), "a window takes a file");
    failures += failed(soon([&] { return woken > 0; }), "it is woken");
    const auto arrived = newer.take();
    failures += failed(arrived.size() == 1 && arrived[0] == path, "the file arrives in the newest window");
    failures += failed(sendFile(folder, "", path) && soon([&] { return woken > 1; }), "a second one too");
    failures += failed(!sendFile(folder, "2", path), "no other display's window takes it");
  }
  failures += failed(fs::is_empty(folder), "closed windows leave no marks");
  return failures + failed(!sendFile(folder, "1", path), "nothing takes a file without a window");
}

}  // namespace

int childMain(int argc, char** argv) {
  constexpr int kCode = 7;
  if (argc < 3) std::this_thread::sleep_for(std::chrono::minutes(1));
  for (int i = 2; i < argc; ++i) std::fprintf(stderr, "%s%s", i > 2 ? "|" : "", argv[i]);
  std::fprintf(stderr, "\n");
  return kCode;
}

int platformFailures(const fs::path& folder) {
  return childPrograms() + sentFiles(folder);
}

}  // namespace headscope::app
