// Paths that one process sends to another process's window.

#include "app/platform/sent_files.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

/// A socket that isn't a window's.
class RawSocket {
 public:
  explicit RawSocket(const fs::path& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    address_.sun_family = AF_UNIX;
    std::strncpy(address_.sun_path, path.c_str(), sizeof address_.sun_path - 1);
  }
  ~RawSocket() { ::close(fd_); }
  bool bind() const { return ::bind(fd_, address(), sizeof address_) == 0; }
  bool listen() const { return bind() && ::listen(fd_, 4) == 0; }
  bool connect() const { return ::connect(fd_, address(), sizeof address_) == 0; }
  bool send(const std::string& bytes) const {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  /// The answer received before the other end closes.
  std::string answer() const {
    char bytes[16];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    return {bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }

 private:
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
  int fd_;
  sockaddr_un address_{};
};

class SentFilesTest : public testing::Test {
 protected:
  std::vector<fs::path> sockets() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(windows_)) found.push_back(entry.path());
    return found;
  }
  test::TemporaryFolder folder_;
  const fs::path windows_ = folder_ / "headscope";
};

TEST_F(SentFilesTest, SentPathWakesTheWindow) {
  std::atomic<int> woken = 0;
  SentFiles window(windows_, ":1", [&] { ++woken; });
  ASSERT_TRUE(sendFile(windows_, ":1", "/data/one file.npz"));
  ASSERT_TRUE(sendFile(windows_, "", "/data/ünïcode\nand a line"));
  while (woken < 2) std::this_thread::yield();
  EXPECT_THAT(window.take(), ElementsAre("/data/one file.npz", "/data/ünïcode\nand a line"));
  EXPECT_THAT(window.take(), IsEmpty());
  EXPECT_FALSE(sendFile(windows_, ":2", "/data/one")) << "a window on another display";
}

TEST_F(SentFilesTest, FailsWithoutOpenWindow) {
  EXPECT_FALSE(sendFile(windows_, "", "/a"));
  EXPECT_FALSE(sendFile("", "", "/a"));
  {
    const SentFiles window(windows_, "", [] {});
  }
  EXPECT_THAT(sockets(), IsEmpty()) << "a window that was closed leaves nothing";
  EXPECT_FALSE(sendFile(windows_, "", "/a"));
}

TEST_F(SentFilesTest, AcceptsLongFolderNames) {
  const fs::path deep = folder_ / std::string(150, 'x') / "headscope";
  SentFiles window(deep, "", [] {});
  EXPECT_TRUE(sendFile(deep, "", "/a"));
}

TEST_F(SentFilesTest, FolderIsPrivateToTheUser) {
  fs::create_directories(windows_);
  fs::permissions(windows_, fs::perms::all);
  const SentFiles window(windows_, "", [] {});
  EXPECT_EQ(fs::status(windows_).permissions(), fs::perms::owner_all);
  fs::create_directory_symlink("/proc/1", folder_ / "link");  // belongs to someone else, or must not be
                                                              // changed
  EXPECT_FALSE(sendFile(folder_ / "link", "", "/a"));
}

TEST_F(SentFilesTest, LinkedFolderKeepsItsMode) {
  const fs::path target = folder_ / "target";
  constexpr fs::perms kMode = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec;
  fs::create_directories(target);
  fs::permissions(target, kMode);
  fs::create_directory_symlink(target, windows_);
  const SentFiles window(windows_, "", [] {});
  EXPECT_FALSE(sendFile(windows_, "", "/a")) << "others can read it";
  EXPECT_EQ(fs::status(target).permissions(), kMode);
}

/// A window in a separate process, which is then killed.
TEST_F(SentFilesTest, RemovesSocketOfKilledWindow) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const SentFiles window(windows_, "", [] {});
    (void)!::write(ready[1], "1", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_EQ(sockets().size(), 1u);
  {
    // A window that has taken a file has looked for leftovers before.
    const SentFiles window(windows_, "", [] {});
    EXPECT_TRUE(sendFile(windows_, "", "/a"));
    EXPECT_EQ(sockets().size(), 1u) << "the killed window's is still there";
  }
  EXPECT_FALSE(sendFile(windows_, "", "/a"));
  EXPECT_THAT(sockets(), IsEmpty());
}

TEST_F(SentFilesTest, NewestRespondingWindowTakesTheFile) {
  std::atomic<int> woken = 0;
  SentFiles older(windows_, "", [&] { ++woken; });
  const fs::path own = sockets().front();
  // A window that has taken a file has done with the leftovers it looks for at its start.
  ASSERT_TRUE(sendFile(windows_, "", "/first"));
  while (woken == 0) std::this_thread::yield();
  ASSERT_THAT(older.take(), ElementsAre("/first"));
  // Sockets of other processes: a window that hangs, and one that has ended.
  const RawSocket hangs(windows_ / "1@.window"), gone(windows_ / "2@.window");
  ASSERT_TRUE(hangs.listen());
  ASSERT_TRUE(gone.bind());
  const auto later = fs::last_write_time(own) + std::chrono::seconds(5);
  fs::last_write_time(windows_ / "1@.window", later);
  fs::last_write_time(windows_ / "2@.window", later + std::chrono::seconds(1));
  ASSERT_TRUE(sendFile(windows_, "", "/a"));
  while (woken == 1) std::this_thread::yield();  // it answers before it takes the path
  EXPECT_THAT(older.take(), ElementsAre("/a"));
  EXPECT_FALSE(fs::exists(windows_ / "2@.window"));
  EXPECT_TRUE(fs::exists(windows_ / "1@.window")) << "it may answer again";
}

TEST_F(SentFilesTest, RefusesInvalidPaths) {
  SentFiles window(windows_, "", [] {});
  const fs::path own = sockets().front();
  const std::string zero(1, '\0');
  for (const std::string& bytes : {std::string("relative") + zero, zero, "/a" + zero + "/b" + zero,
                                   std::string(200'000, '/') + zero, std::string("GET / HTTP/1.1\r\n\r\n")}) {
    const RawSocket client(own);
    ASSERT_TRUE(client.connect());
    (void)client.send(bytes);
    EXPECT_EQ(client.answer(), "") << bytes.substr(0, 20);
  }
  EXPECT_THAT(window.take(), IsEmpty());
  EXPECT_TRUE(sendFile(windows_, "", "/a")) << "it goes on listening";
}

TEST_F(SentFilesTest, SilentClientDoesNotBlockClosing) {
  auto window = std::make_unique<SentFiles>(windows_, "", [] {});
  const RawSocket silent(sockets().front());
  ASSERT_TRUE(silent.connect());
  ASSERT_TRUE(silent.send("/half"));
  window.reset();  // must not hang
  SUCCEED();
}

}  // namespace
}  // namespace headscope::app
