#include "attention/formats/files/system_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace headscope::attention {

namespace {

int filled(int failed, const struct stat& info, FileState& state) {
  if (failed != 0) return errno;
  state = {info.st_mode, static_cast<std::uint64_t>(info.st_size),
           std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
  return 0;
}

int errorOf(int failed) {
  return failed != 0 ? errno : 0;
}

/// A name without a folder is one in the current folder.
std::filesystem::path orHere(const std::filesystem::path& folder) {
  return folder.empty() ? "." : folder;
}

extern "C" void removeAndEnd(int signal) {
  removeTemporaryFiles();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

std::string systemText(int code) {
  return std::generic_category().message(code);
}

bool isRegular(unsigned mode) {
  return S_ISREG(mode);
}

const char* kindOfFile(unsigned mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

int stateOf(int descriptor, FileState& state) {
  struct stat info {};
  return filled(::fstat(descriptor, &info), info, state);
}

int stateOf(const std::filesystem::path& path, FileState& state) {
  struct stat info {};
  return filled(::stat(path.c_str(), &info), info, state);
}

int checkWritable(const std::filesystem::path& path) {
  return errorOf(::access(path.c_str(), W_OK));
}

Descriptor openToRead(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe waits for a writer that may never come.
  return Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

Descriptor openToWrite(const std::filesystem::path& path, Creation creation, bool isPrivate) {
  const int flags = creation == Creation::always ? O_EXCL : isPrivate ? O_NOFOLLOW : 0;
  return Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | flags, isPrivate ? 0600 : 0666));
}

Descriptor openUnnamed([[maybe_unused]] const std::filesystem::path& folder) {
#ifdef O_TMPFILE
  // Naming the file later needs /proc, which not every system has.
  if (::access("/proc/self/fd", X_OK) == 0)
    return Descriptor(::open(orHere(folder).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
#endif
  errno = EOPNOTSUPP;
  return Descriptor(-1);
}

int nameFile(int descriptor, const std::filesystem::path& path) {
  const std::string self = fmt::format("/proc/self/fd/{}", descriptor);
  return errorOf(::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW));
}

std::ptrdiff_t readAt(int descriptor, void* to, std::size_t bytes, std::uint64_t offset) {
  return ::pread(descriptor, to, bytes, static_cast<off_t>(offset));
}

int lockFile(int descriptor) {
  return errorOf(::flock(descriptor, LOCK_EX | LOCK_NB));
}

int flushFile(int descriptor) {
  return errorOf(::fsync(descriptor));
}

void flushFolder(const std::filesystem::path& folder) {
  const Descriptor fd(::open(orHere(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

int setMode(int descriptor, unsigned mode) {
  return errorOf(::fchmod(descriptor, mode));
}

int moveFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  return errorOf(::rename(from.c_str(), to.c_str()));
}

int processId() {
  return ::getpid();
}

bool processRuns(int process) {
  return ::kill(process, 0) == 0 || errno != ESRCH;
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
