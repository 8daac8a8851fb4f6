#include "attention/formats/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "attention/formats/file_io.h"
#include "tests/support/memory_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;
using test::putFile;
using test::TemporaryFolder;
using ::testing::HasSubstr;

std::string openError(const fs::path& path) {
  const auto file = MappedFile::open(path);
  return file ? "no error" : file.error().message;
}

std::string copyError(const MappedFile& file, std::uint64_t offset, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  const auto status = file.copy(offset, bytes);
  return status ? "no error" : status.error().message;
}

std::string textAt(const MappedFile& file, std::uint64_t offset, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  const auto status = file.copy(offset, bytes);
  return status ? std::string(bytes.begin(), bytes.end()) : status.error().message;
}

TEST(MappedFile, CopiesAnyPart) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += static_cast<char>(i * 31 % 251);
  putFile(folder / "file", text);
  const auto file = MappedFile::open(folder / "file");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->size(), text.size());
  EXPECT_EQ(file->path(), folder / "file");
  for (const auto& [offset, count] : {std::pair<std::size_t, std::size_t>{0, text.size()},
                                      {0, 1},
                                      {4095, 2},
                                      {4096, 4096},
                                      {39'999, 1},
                                      {40'000, 0},
                                      {12'345, 23'456}}) {
    EXPECT_EQ(textAt(*file, offset, count), text.substr(offset, count)) << offset;
  }
  EXPECT_THROW(static_cast<void>(copyError(*file, 40'000, 1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(copyError(*file, ~std::uint64_t{0}, 2)), std::invalid_argument);
}

TEST(MappedFile, SaysWhatReadFileSays) {
  const TemporaryFolder folder;
  putFile(folder / "file", "text");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::vector<fs::path> paths{
      folder / "none", folder.path(), folder / "pipe", "/dev/zero", folder / "file" / "below", ""};
  if (::geteuid() != 0) {  // root reads everything
    putFile(folder / "closed", "text");
    ASSERT_EQ(::chmod((folder / "closed").c_str(), 0), 0);
    paths.push_back(folder / "closed");
  }
  for (const auto& path : paths) {
    const auto plain = readFile(path);
    ASSERT_FALSE(plain.ok()) << path;
    EXPECT_EQ(openError(path), plain.error().message);
  }
}

TEST(MappedFile, MapsAnEmptyFile) {
  const TemporaryFolder folder;
  putFile(folder / "empty", "");
  const auto file = MappedFile::open(folder / "empty");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->size(), 0u);
  EXPECT_EQ(copyError(*file, 0, 0), "no error");
}

TEST(MappedFile, MovesTheMappingAlong) {
  const TemporaryFolder folder;
  putFile(folder / "a", "first");
  putFile(folder / "b", "second");
  auto a = MappedFile::open(folder / "a"), b = MappedFile::open(folder / "b");
  ASSERT_TRUE(a.ok() && b.ok());
  MappedFile moved = std::move(*a);
  EXPECT_EQ(textAt(moved, 0, 5), "first");
  moved = std::move(*b);
  EXPECT_EQ(textAt(moved, 0, 6), "second");
}

TEST(MappedFile, KeepsAFileThatIsReplaced) {
  const TemporaryFolder folder;
  putFile(folder / "file", "before");
  const auto file = MappedFile::open(folder / "file");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(writeFile(folder / "file", std::string_view("x")).ok());
  EXPECT_EQ(textAt(*file, 0, 6), "before");
}

TEST(MappedFile, SaysThatTheFileBecameShorter) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  putFile(path, std::string(100'000, 'x'));
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  for (const std::uintmax_t size : {99'999, 50'000, 8192, 1, 0}) {
    fs::resize_file(path, size);
    const auto sentence = path.string() + ": became shorter while it was read: found " +
                          std::to_string(size) + " bytes, expected 100000";
    EXPECT_EQ(copyError(*file, 0, 100'000), sentence);
    EXPECT_EQ(copyError(*file, 90'000, 10), sentence) << "beyond the end from the first byte on";
    EXPECT_EQ(copyError(*file, 0, 1), sentence);
  }
  fs::resize_file(path, 100'000);
  EXPECT_EQ(copyError(*file, 90'000, 10), "no error");
}

TEST(MappedFile, OutlivesAFileThatIsCutWhileItIsCopied) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  constexpr std::uint64_t kSize = std::uint64_t{64} << 20;
  putFile(path, "");
  fs::resize_file(path, kSize);
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  std::vector<std::uint8_t> bytes(kSize, 1);
  int cut = 0;
  for (int round = 0; round < 10; ++round) {
    fs::resize_file(path, kSize);
    std::atomic<bool> copying = false;
    std::thread cutter([&] {
      while (!copying) std::this_thread::yield();
      // Copying takes some ten milliseconds, so that rounds end at different places of it.
      std::this_thread::sleep_for(std::chrono::milliseconds(round));
      fs::resize_file(path, 4096);
    });
    copying = true;
    const auto status = file->copy(0, bytes);
    cutter.join();
    if (status) continue;
    ++cut;
    EXPECT_THAT(status.error().message, HasSubstr("became shorter while it was read: found 4096 bytes"));
  }
  EXPECT_GT(cut, 0) << "no round was cut while it was copied";
}

TEST(MappedFile, MayBeCopiedFromByManyThreads) {
  const TemporaryFolder folder;
  putFile(folder / "file", std::string(1 << 20, 'x'));
  const auto file = MappedFile::open(folder / "file");
  ASSERT_TRUE(file.ok());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t round = 0; round < 50; ++round)
        wrong += textAt(*file, round * 1000, 100'000) != std::string(100'000, 'x');
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Sanitizers handle the signal themselves, and need more address space than a limit would leave.
#ifndef HEADSCOPE_SANITIZE_BUILD

/// Reads a page behind the end of a file, in a mapping that is none of MappedFile's.
void touchBadPage(const fs::path& path) {
  const auto file = openToRead(path);
  const auto* data = static_cast<const volatile char*>(
      ::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file->descriptor.get(), 0));
  static_cast<void>(data[4096]);
}

/// Each in a process of its own that has not mapped a file before: the handler is installed once.
class BusErrors : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  void mapOne() { ASSERT_TRUE(MappedFile::open(path_).ok()); }

  test::MemoryFile file_{std::vector<std::uint8_t>{1, 2, 3}};
  fs::path path_ = file_.path();
};

TEST_F(BusErrors, OfOthersEndTheProgramAsBefore) {
  EXPECT_EXIT((mapOne(), touchBadPage(path_)), ::testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT((mapOne(), ::raise(SIGBUS)), ::testing::KilledBySignal(SIGBUS), "");
}

TEST_F(BusErrors, OfOthersReachTheirHandlers) {
  const auto withHandler = [&](void (*handler)(int)) {
    ::signal(SIGBUS, handler);
    mapOne();
  };
  EXPECT_EXIT((withHandler([](int) { ::_exit(7); }), touchBadPage(path_)), ::testing::ExitedWithCode(7), "");
  EXPECT_EXIT((withHandler(SIG_IGN), ::raise(SIGBUS), ::_exit(8)), ::testing::ExitedWithCode(8), "");
  EXPECT_EXIT((withHandler(SIG_IGN), touchBadPage(path_)), ::testing::KilledBySignal(SIGBUS), "");
  const auto withInfo = [&] {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) { ::_exit(info->si_code == BUS_ADRERR ? 9 : 1); };
    ::sigaction(SIGBUS, &action, nullptr);
    mapOne();
  };
  EXPECT_EXIT((withInfo(), touchBadPage(path_)), ::testing::ExitedWithCode(9), "");
}

TEST(MappedFile, SaysThatThereIsNoRoomForTheMapping) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  putFile(path, "");
  fs::resize_file(path, std::uintmax_t{1} << 36);
  const auto openWithoutRoom = [&] {
    const rlimit limit{std::uint64_t{1} << 32, std::uint64_t{1} << 32};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
    const auto sentence = ": is 68719476736 bytes, more than there is address space for";
    ::_exit(openError(path) == path.string() + sentence ? 0 : 1);
  };
  EXPECT_EXIT(openWithoutRoom(), ::testing::ExitedWithCode(0), "");
}

#endif

}  // namespace
}  // namespace headscope::attention
