#include "attention/formats/files/temporary_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace headscope::attention {
namespace {

/// Names of files being written, in static memory for the signal handler.
struct Slot {
  std::atomic<bool> taken = false, holds = false;
  char name[PATH_MAX] = {};
};
std::array<Slot, 16> openFiles;

/// Adds a name to those that a signal removes. Does nothing if the list is full or the name too long; the
/// file then remains if the program is killed while writing it.
void enlist(const std::string& name) {
  if (name.size() >= PATH_MAX) return;
  for (Slot& slot : openFiles) {
    if (slot.taken.exchange(true)) continue;
    std::memcpy(slot.name, name.c_str(), name.size() + 1);
    slot.holds = true;
    return;
  }
}

void strike(const std::string& name) {
  for (Slot& slot : openFiles) {
    if (!slot.holds || name != slot.name) continue;
    slot.holds = false;
    slot.taken = false;
    return;
  }
}

extern "C" void removeAndEnd(int signal) {
  removeTemporaryFiles();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

template <typename Give>
int TemporaryFile::giveName(const std::filesystem::path& target, std::string& name, Give give) {
  static std::atomic<unsigned> counter = 0;
  constexpr int kAttempts = 100;
  // The temporary name isn't derived from the target's, which may be near the limit of 255 bytes.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    name = target.parent_path() / fmt::format(".headscope-{}-{}.tmp", ::getpid(), counter++);
    // Before the file exists: a signal may arrive right after.
    enlist(name);
    const int code = give(name.c_str());
    if (code == 0) return 0;
    strike(name);
    if (code != EEXIST) return code;
  }
  return EEXIST;
}

std::pair<std::optional<TemporaryFile>, int> TemporaryFile::create(const std::filesystem::path& target,
                                                                   Naming naming) {
#ifdef O_TMPFILE
  // Naming the file later needs /proc, which not every system has.
  if (naming == Naming::onCompletion && ::access("/proc/self/fd", X_OK) == 0) {
    const auto folder = target.parent_path();
    const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (fd >= 0) return {TemporaryFile(Descriptor(fd), ""), 0};
  }
#endif
  std::string name;
  int fd = -1;
  const int code = giveName(target, name, [&](const char* path) {
    fd = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd >= 0 ? 0 : errno;
  });
  if (code != 0) return {std::nullopt, code};
  return {TemporaryFile(Descriptor(fd), std::move(name)), 0};
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : file_(std::move(other.file_)), name_(std::exchange(other.name_, {})) {}

TemporaryFile::~TemporaryFile() {
  if (name_.empty()) return;
  ::unlink(name_.c_str());
  strike(name_);
}

int TemporaryFile::moveTo(const std::filesystem::path& target) {
  if (name_.empty()) {
    const std::string self = fmt::format("/proc/self/fd/{}", file_.get());
    const auto link = [&](const char* path) {
      return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
    };
    const int code = link(target.c_str());
    if (code != EEXIST) return code;
    // Only a rename of a named file can replace an existing file.
    std::string name;
    if (const int refused = giveName(target, name, link)) return refused;
    name_ = std::move(name);
  }
  // A network file system may report a full disk only here.
  if (!file_.close()) return errno;
  if (::rename(name_.c_str(), target.c_str()) != 0) return errno;
  strike(std::exchange(name_, {}));
  return 0;
}

void removeTemporaryFiles() {
  for (const Slot& slot : openFiles)
    if (slot.holds) ::unlink(slot.name);
}

void removeTemporaryFilesOnSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    // Leave ignored signals (as under nohup) ignored.
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = removeAndEnd;
    ::sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace headscope::attention
