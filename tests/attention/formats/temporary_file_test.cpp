#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attention/formats/files/file_io.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

using headscope::test::fileText;
using headscope::test::putFile;
using headscope::test::TemporaryFolder;
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
