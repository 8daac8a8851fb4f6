#include "app/platform/sent_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "app/platform/preferences.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

namespace {

using attention::Descriptor;
namespace fs = std::filesystem;

constexpr const char* kEnding = ".window";
constexpr std::size_t kMaxBytes = std::size_t{1} << 16;
constexpr int kTimeout = 1;  ///< seconds to wait for a peer

/// Opens the folder if only this user can access it.
Descriptor ownFolder(const fs::path& folder) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  // Not a link's target, which others may use as they left it.
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::replace | fs::perm_options::nofollow,
                  ignored);
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat found {};
  const bool own = opened.get() >= 0 && ::fstat(opened.get(), &found) == 0 && found.st_uid == ::geteuid() &&
                   (found.st_mode & 077) == 0;
  return own ? std::move(opened) : Descriptor(-1);
}

/// Returns a socket address for the name. It goes through the descriptor, since addresses must be short and
/// the folder's path may be long.
sockaddr_un addressOf(const Descriptor& folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder.get(), name);
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof address.sun_path - 1));
  return address;
}

Descriptor newSocket() {
  return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Connects to a window's socket; none if it doesn't answer. Removes the socket if its window is gone.
Descriptor connectTo(const Descriptor& folder, const std::string& name) {
  Descriptor to = newSocket();
  const sockaddr_un address = addressOf(folder, name);
  if (::connect(to.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return to;
  if (errno == ECONNREFUSED) (void)::unlinkat(folder.get(), name.c_str(), 0);
  return Descriptor(-1);
}

/// Returns the names of the windows' sockets, newest first.
std::vector<std::string> socketsIn(const Descriptor& folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code code;
  for (fs::directory_iterator at(fmt::format("/proc/self/fd/{}", folder.get()), code), end;
       !code && at != end; at.increment(code)) {
    std::error_code ignored;
    if (at->path().extension() == kEnding && at->is_socket(ignored))
      found.emplace_back(fs::last_write_time(at->path(), ignored), at->path().filename().string());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> names;
  for (auto& [time, name] : found) names.push_back(std::move(name));
  return names;
}

/// Whether the other end belongs to this user.
bool isOwn(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

bool answers(int socket) {
  pollfd ready{socket, POLLIN, 0};
  char taken = 0;
  return ::poll(&ready, 1, kTimeout * 1000) == 1 && ::recv(socket, &taken, 1, 0) == 1;
}

}  // namespace

fs::path windowsFolder() {
  if (const char* folder = std::getenv("XDG_RUNTIME_DIR"); folder && *folder)
    return fs::path(folder) / "headscope";
  const fs::path state = stateFolder();
  return state.empty() ? state : state / "windows";
}

std::string displayName() {
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* const display = std::getenv(variable); display && *display) {
      std::string name = display;
      std::replace(name.begin(), name.end(), '/', '_');
      return name.substr(0, 64);
    }
  return "";
}

struct SentFiles::State {
  State(const fs::path& in, const std::string& display, std::function<void()> tell);
  ~State();
  void serve();
  void receive(int from);
  bool waitFor(int descriptor, int seconds) const;

  const std::function<void()> wake;
  Descriptor folder, socket{-1}, stopRead{-1}, stopWrite{-1};
  std::string name;  ///< of the socket in its folder
  std::mutex mutex;
  std::vector<fs::path> arrived;
  std::thread thread;
};

SentFiles::State::State(const fs::path& in, const std::string& display, std::function<void()> tell)
    : wake(std::move(tell)), folder(in.empty() ? Descriptor(-1) : ownFolder(in)) {
  int ends[2];
  if (folder.get() < 0 || ::pipe2(ends, O_CLOEXEC) != 0) return;
  stopRead = Descriptor(ends[0]);
  stopWrite = Descriptor(ends[1]);
  socket = newSocket();
  name = fmt::format("{}@{}{}", ::getpid(), display, kEnding);
  // Listens before it gets its name: a process that finds a name without a listener would remove it as a
  // leftover.
  const std::string early = name + ".new";
  (void)::unlinkat(folder.get(), early.c_str(), 0);
  const sockaddr_un address = addressOf(folder, early);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 8) != 0 ||
      ::renameat(folder.get(), early.c_str(), folder.get(), name.c_str()) != 0)
    return;
  try {
    thread = std::thread([this] { serve(); });
  } catch (const std::system_error&) {  // out of threads: no files will arrive
    (void)::unlinkat(folder.get(), name.c_str(), 0);
  }
}

SentFiles::State::~State() {
  if (!thread.joinable()) return;
  (void)::unlinkat(folder.get(), name.c_str(), 0);
  stopWrite.close();
  thread.join();
}

SentFiles::SentFiles(const fs::path& folder, const std::string& display, std::function<void()> wake)
    : state_(std::make_unique<State>(folder, display, std::move(wake))) {}

SentFiles::~SentFiles() = default;

std::vector<fs::path> SentFiles::take() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->arrived, {});
}

/// Whether there is something to read. False after `seconds` (0 = no limit), and when stopping.
bool SentFiles::State::waitFor(int descriptor, int seconds) const {
  pollfd ready[] = {{descriptor, POLLIN, 0}, {stopRead.get(), POLLIN, 0}};
  int found = 0;
  while ((found = ::poll(ready, 2, seconds > 0 ? seconds * 1000 : -1)) < 0 && errno == EINTR) continue;
  return found > 0 && ready[1].revents == 0;
}

void SentFiles::State::serve() {
  // Removes sockets left by windows that were killed.
  for (const std::string& other : socketsIn(folder))
    if (other != name) (void)connectTo(folder, other);
  while (waitFor(socket.get(), 0)) {
    const Descriptor from(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (from.get() >= 0 && isOwn(from.get())) receive(from.get());
  }
}

/// Receives a zero-terminated path. Accepts it only after the answer was sent: a sender that no longer waits
/// has given up.
void SentFiles::State::receive(int from) {
  std::string text;
  char part[4096];
  while (text.empty() || text.back() != '\0') {
    if (text.size() > kMaxBytes || !waitFor(from, kTimeout)) return;
    const ssize_t got = ::recv(from, part, sizeof part, 0);
    if (got <= 0) return;
    text.append(part, static_cast<std::size_t>(got));
  }
  text.pop_back();
  const fs::path path(text);
  if (!path.is_absolute() || text.find('\0') != text.npos) return;
  if (::send(from, "1", 1, MSG_NOSIGNAL) != 1) return;
  {
    const std::lock_guard lock(mutex);
    arrived.push_back(path);
  }
  wake();
}

bool sendFile(const fs::path& folder, const std::string& display, const fs::path& path) {
  const Descriptor windows = folder.empty() ? Descriptor(-1) : ownFolder(folder);
  if (windows.get() < 0) return false;
  const std::string text = path.string();
  for (const std::string& name : socketsIn(windows)) {
    if (!display.empty() && !name.ends_with("@" + display + kEnding)) continue;
    const Descriptor to = connectTo(windows, name);
    if (to.get() < 0 || !isOwn(to.get())) continue;
    const auto length = static_cast<ssize_t>(text.size() + 1);  // includes the terminating zero
    if (::send(to.get(), text.c_str(), text.size() + 1, MSG_NOSIGNAL) == length && answers(to.get()))
      return true;
  }
  return false;
}

}  // namespace headscope::app
