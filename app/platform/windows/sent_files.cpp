#include "app/platform/sent_files.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "app/platform/preferences.h"
#include "app/platform/windows/spawn.h"
#include "attention/formats/files/system_files.h"

namespace headscope::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".window";
constexpr DWORD kMaxBytes = 1 << 16;
constexpr DWORD kTimeout = 1000;  ///< milliseconds to wait for a peer

/// The pipe of the window whose mark in the folder has this name.
std::wstring pipeOf(const fs::path& mark) {
  return L"\\\\.\\pipe\\headscope-" + mark.stem().wstring();
}

/// One read, write or connection of a pipe, which ends at the latest after a while or when `stop` is
/// signalled.
class Transfer {
 public:
  explicit Transfer(HANDLE pipe) : pipe_(pipe), event_(CreateEventW(nullptr, TRUE, FALSE, nullptr)) {
    state_.hEvent = event_.get();
  }
  OVERLAPPED* state() { return &state_; }
  /// Returns how many bytes were transferred; nothing on failure.
  std::optional<DWORD> wait(BOOL done, DWORD milliseconds, HANDLE stop = nullptr) {
    const DWORD error = done ? ERROR_SUCCESS : GetLastError();
    if (error == ERROR_PIPE_CONNECTED) return 0;
    if (error != ERROR_SUCCESS && error != ERROR_IO_PENDING) return std::nullopt;
    const HANDLE either[] = {event_.get(), stop};
    if (WaitForMultipleObjects(stop ? 2 : 1, either, FALSE, milliseconds) != WAIT_OBJECT_0) CancelIo(pipe_);
    DWORD bytes = 0;
    return GetOverlappedResult(pipe_, &state_, &bytes, TRUE) ? std::optional(bytes) : std::nullopt;
  }

 private:
  HANDLE pipe_;
  Handle event_;
  OVERLAPPED state_{};
};

std::optional<DWORD> readFrom(HANDLE pipe, std::string& text, HANDLE stop = nullptr) {
  Transfer transfer(pipe);
  return transfer.wait(
      ReadFile(pipe, text.data(), static_cast<DWORD>(text.size()), nullptr, transfer.state()), kTimeout,
      stop);
}

bool writeTo(HANDLE pipe, std::string_view text, HANDLE stop = nullptr) {
  Transfer transfer(pipe);
  const auto size = static_cast<DWORD>(text.size());
  return transfer.wait(WriteFile(pipe, text.data(), size, nullptr, transfer.state()), kTimeout, stop) == size;
}

/// Returns the marks of the windows, newest first.
std::vector<fs::path> marksIn(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code code, ignored;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (at->path().extension() == kEnding)
      found.emplace_back(fs::last_write_time(at->path(), ignored), at->path());
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> marks;
  for (auto& [time, mark] : found) marks.push_back(std::move(mark));
  return marks;
}

/// Connects to a window's pipe. Removes the mark if its window is gone.
Handle connectTo(const fs::path& mark) {
  const std::wstring pipe = pipeOf(mark);
  const auto open = [&] {
    // The window may know who asks, but not act in their name.
    return Handle(CreateFileW(pipe.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
                              FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION,
                              nullptr));
  };
  Handle to = open();
  if (!to && GetLastError() == ERROR_PIPE_BUSY && WaitNamedPipeW(pipe.c_str(), kTimeout)) to = open();
  std::error_code ignored;
  if (!to && GetLastError() == ERROR_FILE_NOT_FOUND) fs::remove(mark, ignored);
  return to;
}

}  // namespace

fs::path windowsFolder() {
  const fs::path state = stateFolder();
  return state.empty() ? state : state / "windows";
}

/// All windows of a user's session are on one desktop.
std::string displayName() {
  DWORD session = 0;
  ProcessIdToSessionId(GetCurrentProcessId(), &session);
  return std::to_string(session);
}

struct SentFiles::State {
  std::function<void()> wake;
  Handle stop, pipe;
  fs::path mark;
  std::mutex mutex;
  std::vector<fs::path> arrived;
  std::thread thread;

  void serve() {
    for (const fs::path& other : marksIn(mark.parent_path()))  // removes those of windows that were killed
      if (other != mark) (void)connectTo(other);
    while (WaitForSingleObject(stop.get(), 0) != WAIT_OBJECT_0) {
      Transfer connection(pipe.get());
      if (connection.wait(ConnectNamedPipe(pipe.get(), connection.state()), INFINITE, stop.get())) receive();
      DisconnectNamedPipe(pipe.get());
    }
  }

  /// Receives a path. Accepts it only after the answer was read: a sender that no longer waits has given up.
  void receive() {
    std::string text(kMaxBytes, '\0');
    const auto got = readFrom(pipe.get(), text, stop.get());
    if (!got) return;
    text.resize(*got);
    const fs::path path(text);
    if (!path.is_absolute() || text.find('\0') != text.npos || !writeTo(pipe.get(), "1", stop.get())) return;
    std::string end(1, '\0');
    (void)readFrom(pipe.get(), end, stop.get());  // until the sender has read the answer and is gone
    {
      const std::lock_guard lock(mutex);
      arrived.push_back(path);
    }
    wake();
  }
};

SentFiles::SentFiles(const fs::path& folder, const std::string& display, std::function<void()> wake)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.wake = std::move(wake);
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  state.stop = Handle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  constexpr int kMostWindows = 16;  // of one process
  for (int i = 0; i < kMostWindows && !state.pipe; ++i) {
    state.mark =
        folder / (std::to_string(attention::processId()) + "-" + std::to_string(i) + "@" + display + kEnding);
    // The default rights let only this user and administrators in.
    state.pipe = Handle(CreateNamedPipeW(
        pipeOf(state.mark).c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
        PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE | PIPE_REJECT_REMOTE_CLIENTS, 1, kMaxBytes, kMaxBytes, 0,
        nullptr));
  }
  if (folder.empty() || !state.stop || !state.pipe || !attention::writeFile(state.mark, std::string_view()))
    return;
  state.thread = std::thread([&state] { state.serve(); });
}

SentFiles::~SentFiles() {
  if (!state_->thread.joinable()) return;
  std::error_code ignored;
  fs::remove(state_->mark, ignored);
  SetEvent(state_->stop.get());
  state_->thread.join();
}

std::vector<fs::path> SentFiles::take() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->arrived, {});
}

bool sendFile(const fs::path& folder, const std::string& display, const fs::path& path) {
  for (const fs::path& mark : marksIn(folder)) {
    if (!display.empty() && !mark.filename().string().ends_with("@" + display + kEnding)) continue;
    const Handle to = connectTo(mark);
    std::string taken(1, '\0');
    AllowSetForegroundWindow(ASFW_ANY);
    if (to && writeTo(to.get(), path.string()) && readFrom(to.get(), taken) == 1) return true;
  }
  return false;
}

}  // namespace headscope::app
