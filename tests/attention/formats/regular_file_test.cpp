#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "attention/formats/files/file_io.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;
using headscope::test::putFile;
using headscope::test::TemporaryFolder;

std::string openError(const fs::path& path) {
  return messageOf(RegularFile::open(path));
}

std::string readError(const RegularFile& file, std::uint64_t offset, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  return messageOf(file.read(offset, bytes));
}

std::string textAt(const RegularFile& file, std::uint64_t offset, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  const auto status = file.read(offset, bytes);
  return status ? std::string(bytes.begin(), bytes.end()) : status.error().message;
}

TEST(RegularFile, ReadsAnyPart) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += static_cast<char>(i * 31 % 251);
  putFile(folder / "file", text);
  const auto file = checked(RegularFile::open(folder / "file"));
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
  EXPECT_THROW(static_cast<void>(readError(*file, 40'000, 1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(readError(*file, ~std::uint64_t{0}, 2)), std::invalid_argument);
}

TEST(RegularFile, ReportsSameErrorsAsReadFile) {
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

TEST(RegularFile, OpensAnEmptyFile) {
  const TemporaryFolder folder;
  putFile(folder / "empty", "");
  const auto file = checked(RegularFile::open(folder / "empty"));
  EXPECT_EQ(file->size(), 0u);
  EXPECT_EQ(readError(*file, 0, 0), "no error");
}

TEST(RegularFile, MoveKeepsFileOpen) {
  const TemporaryFolder folder;
  putFile(folder / "a", "first");
  putFile(folder / "b", "second");
  auto a = checked(RegularFile::open(folder / "a")), b = checked(RegularFile::open(folder / "b"));
  RegularFile moved = std::move(*a);
  EXPECT_EQ(textAt(moved, 0, 5), "first");
  moved = std::move(*b);
  EXPECT_EQ(textAt(moved, 0, 6), "second");
}

TEST(RegularFile, ReplacedFileStaysReadable) {
  const TemporaryFolder folder;
  putFile(folder / "file", "before");
  const auto file = checked(RegularFile::open(folder / "file"));
  ASSERT_TRUE(writeFile(folder / "file", std::string_view("x")).ok());
  EXPECT_EQ(textAt(*file, 0, 6), "before");
}

TEST(RegularFile, ReportsShrunkFile) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  putFile(path, std::string(100'000, 'x'));
  const auto file = checked(RegularFile::open(path));
  for (const std::uintmax_t size : {99'999, 50'000, 8192, 1, 0}) {
    fs::resize_file(path, size);
    const auto sentence = path.string() + ": became shorter while it was read: found " +
                          std::to_string(size) + " bytes, expected 100000";
    EXPECT_EQ(readError(*file, 0, 100'000), sentence);
    EXPECT_EQ(readError(*file, 90'000, 10), sentence) << "beyond the end from the first byte on";
    EXPECT_EQ(readError(*file, 0, 1), sentence);
  }
  fs::resize_file(path, 100'000);
  EXPECT_EQ(readError(*file, 90'000, 10), "no error");
}

TEST(RegularFile, ReportsTruncationDuringRead) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  constexpr std::uint64_t kSize = std::uint64_t{64} << 20;
  putFile(path, "");
  fs::resize_file(path, kSize);
  const auto file = checked(RegularFile::open(path));
  std::vector<std::uint8_t> bytes(kSize, 1);
  int cut = 0;
  for (int round = 0; round < 1000 && cut < 3; ++round) {
    fs::resize_file(path, kSize);
    std::atomic<bool> reading = false;
    std::thread cutter([&] {
      while (!reading) std::this_thread::yield();
      // Reading takes about ten milliseconds, so the rounds cut the file at different points.
      std::this_thread::sleep_for(std::chrono::milliseconds(round % 10));
      fs::resize_file(path, 4096);
    });
    reading = true;
    const auto status = file->read(0, bytes);
    cutter.join();
    if (status) continue;
    ++cut;
    EXPECT_THAT(status.error().message, HasSubstr("became shorter while it was read: found 4096 bytes"));
  }
  EXPECT_GT(cut, 0) << "no round was cut while it was read";
}

TEST(RegularFile, SupportsConcurrentReads) {
  const TemporaryFolder folder;
  putFile(folder / "file", std::string(1 << 20, 'x'));
  const auto file = checked(RegularFile::open(folder / "file"));
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

/// The file is neither mapped nor read as a whole, so it may be larger than the address space.
#ifndef HEADSCOPE_SANITIZE_BUILD  // sanitizers need more address space than the limit leaves
TEST(RegularFile, ReadsFilesLargerThanAddressSpace) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  putFile(path, "");
  fs::resize_file(path, std::uintmax_t{1} << 36);
  const auto readTheEnd = [&] {
    const rlimit limit{std::uint64_t{1} << 32, std::uint64_t{1} << 32};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
    const auto file = RegularFile::open(path);
    ::_exit(file && textAt(*file, (std::uint64_t{1} << 36) - 2, 2) == std::string(2, '\0') ? 0 : 1);
  };
  EXPECT_EXIT(readTheEnd(), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace headscope::attention
