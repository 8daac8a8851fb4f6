#include "attention/formats/files/file_io.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;
using headscope::test::fileText;
using headscope::test::putFile;
using headscope::test::TemporaryFolder;

std::string readError(const fs::path& path) {
  return messageOf(readFile(path));
}

std::string writeError(const fs::path& path, std::string_view text = "new") {
  return messageOf(writeFile(path, text));
}

TEST(ReadFile, ReadsEveryByte) {
  const TemporaryFolder folder;
  const std::string text("a\0b\r\n\xFF", 6);
  putFile(folder / "some.bin", text);
  const auto bytes = checked(readFile(folder / "some.bin"));
  EXPECT_EQ(std::string(bytes->begin(), bytes->end()), text);
}

TEST(ReadFile, ReadsAnEmptyFile) {
  const TemporaryFolder folder;
  putFile(folder / "empty", "");
  const auto bytes = checked(readFile(folder / "empty"));
  EXPECT_TRUE(bytes->empty());
}

TEST(ReadFile, NamesMissingFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(readError(folder / "none"),
            (folder / "none").string() + ": cannot be opened: No such file or directory");
}

TEST(ReadFile, RefusesNonRegularFiles) {
  const TemporaryFolder folder;
  EXPECT_THAT(readError(folder.path()), HasSubstr("is a directory, expected a regular file"));
  EXPECT_THAT(readError("/dev/zero"), HasSubstr("is a device, expected a regular file"));
}

TEST(ReadFile, DoesNotBlockOnPipes) {
  const TemporaryFolder folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(readError(pipe), HasSubstr("is a pipe, expected a regular file"));
}

TEST(ReadFile, RefusesUnreadableFile) {
  const TemporaryFolder folder;
  putFile(folder / "file", "text");
  EXPECT_THAT(readError(folder / "file" / "below"), HasSubstr("cannot be opened: Not a directory"));
  if (::geteuid() == 0) return;  // root reads everything
  ASSERT_EQ(::chmod((folder / "file").c_str(), 0), 0);
  EXPECT_THAT(readError(folder / "file"), HasSubstr("cannot be opened: Permission denied"));
}

TEST(ReadFile, RefusesOversizedFileBeforeReading) {
  const TemporaryFolder folder;
  putFile(folder / "huge", "");
  // A hole: it takes no disk space, but reading it would take a tebibyte of memory.
  fs::resize_file(folder / "huge", std::uintmax_t{1} << 40);
  EXPECT_THAT(readError(folder / "huge"), HasSubstr("is 1099511627776 bytes, expected at most 8589934592"));
  putFile(folder / "small", "12345");
  EXPECT_TRUE(readFile(folder / "small", 5).ok());
  EXPECT_FALSE(readFile(folder / "small", 4).ok());
}

TEST(WriteFile, CreatesAndReplacesFiles) {
  const TemporaryFolder folder;
  const auto path = folder / "out";
  ASSERT_TRUE(writeFile(path, std::string_view("first, and longer")).ok());
  ASSERT_TRUE(writeFile(path, std::string_view("second")).ok());
  EXPECT_EQ(fileText(path), "second");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(WriteFile, WritesBareNameIntoWorkingFolder) {
  const TemporaryFolder folder;
  const auto before = fs::current_path();
  fs::current_path(folder.path());
  const auto status = writeFile("bare-name", std::string_view("text"));
  fs::current_path(before);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(fileText(folder / "bare-name"), "text");
}

TEST(WriteFile, KeepsPermissionsAndFollowsLinks) {
  const TemporaryFolder folder;
  putFile(folder / "real", "old");
  ASSERT_EQ(::chmod((folder / "real").c_str(), 0640), 0);
  fs::create_symlink("real", folder / "link");
  ASSERT_TRUE(writeFile(folder / "link", std::string_view("new")).ok());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(fileText(folder / "real"), "new");
  EXPECT_EQ(static_cast<unsigned>(fs::status(folder / "real").permissions()), 0640u);
}

TEST(WriteFile, RefusesFoldersDevicesAndPipes) {
  const TemporaryFolder folder;
  EXPECT_THAT(writeError(folder.path()), HasSubstr("is a directory, expected a regular file"));
  EXPECT_THAT(writeError(folder.path().string() + "/"), HasSubstr("is not the name of a file"));
  EXPECT_EQ(writeError(""), "an empty path is not the name of a file");
  EXPECT_THAT(writeError("/dev/full"), HasSubstr("is a device, expected a regular file"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(writeError(folder / "pipe"), HasSubstr("is a pipe, expected a regular file"));
}

TEST(WriteFile, RefusesUnwritablePaths) {
  const TemporaryFolder folder;
  EXPECT_THAT(writeError(folder / "none" / "out"), HasSubstr("cannot be written: No such file or directory"));
  putFile(folder / "file", "old");
  EXPECT_THAT(writeError(folder / "file" / "out"), HasSubstr("cannot be written: Not a directory"));
  fs::create_symlink("nowhere", folder / "dangling");
  EXPECT_THAT(writeError(folder / "dangling"), HasSubstr("is a broken link"));
  if (::geteuid() == 0) return;  // root writes everywhere
  ASSERT_EQ(::chmod((folder / "file").c_str(), 0400), 0);
  EXPECT_THAT(writeError(folder / "file"), HasSubstr("cannot be written: Permission denied"));
  EXPECT_EQ(fileText(folder / "file"), "old");
}

/// Runs in a separate process whose files may not exceed 4096 bytes. Returns 0 if writing 1 MiB over `path`
/// failed with the sentence for that.
int writeWithoutRoom(const fs::path& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    const auto message = writeError(path, std::string(1 << 20, 'x'));
    ::_exit(message.find("cannot be written: File too large") == std::string::npos ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(WriteFile, KeepsOldFileIfNewDoesNotFit) {
  const TemporaryFolder folder;
  putFile(folder / "out", "old");
  EXPECT_EQ(writeWithoutRoom(folder / "out"), 0);
  EXPECT_EQ(fileText(folder / "out"), "old");
  EXPECT_EQ(folder.count(), 1u) << "a temporary file was left behind";
}

TEST(WriteFile, LeavesForeignTemporaryFilesAlone) {
  const TemporaryFolder folder;
  const auto taken = folder / (".headscope-" + std::to_string(::getpid()) + "-0.tmp");
  putFile(taken, "not ours");
  ASSERT_TRUE(writeFile(folder / "out", std::string_view("text")).ok());
  EXPECT_EQ(fileText(folder / "out"), "text");
  EXPECT_EQ(fileText(taken), "not ours");
}

using Naming = TemporaryFile::Naming;

/// Runs `work` in a separate process. Returns the signal that ended it, or 0.
template <typename Work>
int endOf(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void put(const TemporaryFile& file, std::string_view text) {
  ASSERT_EQ(::write(file.descriptor(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

class TemporaryFiles : public testing::TestWithParam<Naming> {
 protected:
  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Namings, TemporaryFiles, testing::Values(Naming::onCompletion, Naming::immediately));

TEST_P(TemporaryFiles, MoveReplacesExistingFile) {
  for (const char* text : {"first", "second"}) {
    auto [file, code] = TemporaryFile::create(folder_ / "a.bin", GetParam());
    ASSERT_TRUE(file) << code;
    put(*file, text);
    EXPECT_EQ(file->moveTo(folder_ / "a.bin"), 0);
    EXPECT_EQ(fileText(folder_ / "a.bin"), text);
    EXPECT_EQ(folder_.count(), 1u);
  }
}

TEST_P(TemporaryFiles, FailedMoveLeavesNothing) {
  putFile(folder_ / "a.bin", "old");
  {
    auto [file, code] = TemporaryFile::create(folder_ / "a.bin", GetParam());
    ASSERT_TRUE(file) << code;
    put(*file, "new");
    EXPECT_NE(file->moveTo(folder_ / "none/a.bin"), 0);
  }
  EXPECT_EQ(fileText(folder_ / "a.bin"), "old");
  EXPECT_EQ(folder_.count(), 1u);
  EXPECT_FALSE(TemporaryFile::create(folder_ / "none/a.bin", GetParam()).first);
}

TEST_P(TemporaryFiles, SignalRemovesFile) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(endOf([&] {
                ::signal(signal, SIG_DFL);
                removeTemporaryFilesOnSignals();
                auto [file, code] = TemporaryFile::create(folder_ / "a.bin", GetParam());
                if (!file || ::write(file->descriptor(), "new", 3) != 3) ::_exit(1);
                ::raise(signal);
              }),
              signal);
    EXPECT_EQ(folder_.count(), 0u) << ::strsignal(signal);
  }
}

/// As with nohup: the program continues, and so the file stays.
TEST_P(TemporaryFiles, IgnoredSignalKeepsFile) {
  EXPECT_EQ(endOf([&] {
              ::signal(SIGHUP, SIG_IGN);
              removeTemporaryFilesOnSignals();
              auto [file, code] = TemporaryFile::create(folder_ / "a.bin", GetParam());
              ::raise(SIGHUP);
              if (!file || file->moveTo(folder_ / "a.bin") != 0) ::_exit(1);
            }),
            0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "a.bin"));
}

TEST(WriteFile, CleansUpWhenSignalKillsProcess) {
  const TemporaryFolder folder;
  putFile(folder / "a.bin", "old");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(endOf([&] {
                ::signal(signal, SIG_DFL);
                removeTemporaryFilesOnSignals();
                const std::vector<std::uint8_t> bytes(1000, 7);
                (void)writeFileInParts(folder / "a.bin", [&](const FileSink& sink) {
                  sink(bytes);
                  ::raise(signal);
                  return success();
                });
              }),
              signal);
    EXPECT_EQ(folder.count(), 1u) << ::strsignal(signal);
    EXPECT_EQ(fileText(folder / "a.bin"), "old");
  }
}

TEST(WriteFile, KeepsOldFileWhenItsPartsCannotBeMade) {
  const TemporaryFolder folder;
  putFile(folder / "a.txt", "old");
  const std::vector<std::uint8_t> half(100, 7);
  const Status written = writeFileInParts(folder / "a.txt", [&](const FileSink& sink) -> Status {
    sink(half);
    return Error{"the source has become shorter"};
  });
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message, "the source has become shorter");
  EXPECT_EQ(fileText(folder / "a.txt"), "old");
  EXPECT_EQ(folder.count(), 1u);
}

}  // namespace
}  // namespace headscope::attention
