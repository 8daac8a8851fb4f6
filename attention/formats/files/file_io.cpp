#include "attention/formats/files/file_io.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <system_error>

#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

/// Whether the file is the small text that Git stores in place of a large file
/// (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md).
bool isLfsPointer(int descriptor, std::uint64_t size) {
  constexpr std::string_view kStart = "version https://git-lfs.github.com/spec/";
  constexpr std::uint64_t kMost = 1024;
  char start[kStart.size()];
  return size > kStart.size() && size < kMost &&
         ::pread(descriptor, start, kStart.size(), 0) == std::ssize(kStart) &&
         std::string_view(start, kStart.size()) == kStart;
}

struct FileState {
  unsigned mode = 0;
  std::uint64_t size = 0;
  std::int64_t changed = 0;  ///< modification time, nanoseconds since 1970
};

Result<FileState> stateOf(const Descriptor& file, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fileError(path, "cannot be read: " + systemText(errno));
  return FileState{info.st_mode, static_cast<std::uint64_t>(info.st_size),
                   std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

bool Descriptor::close() {
  return ::close(std::exchange(fd_, -1)) == 0;
}

Result<RegularFile> RegularFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe waits for a writer that may never come.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (descriptor.get() < 0) return fileError(path, "cannot be opened: " + systemText(errno));
  const auto state = stateOf(descriptor, path);
  if (!state) return state.error();
  if (!S_ISREG(state->mode))
    return fileError(path, std::string("is ") + kindOfFile(state->mode) + ", expected a regular file");
  if (isLfsPointer(descriptor.get(), state->size))
    return fileError(path, "is a Git LFS pointer in place of the file: run git lfs pull to fetch it");
  return RegularFile(path, std::move(descriptor), state->size, state->changed);
}

Status RegularFile::unchanged() const {
  const auto now = stateOf(descriptor_, path_);
  if (!now) return now.error();
  if (now->size != size_)
    return fileError(path_, fmt::format("became {} while it was open: found {} bytes, expected {}",
                                        now->size < size_ ? "shorter" : "longer", now->size, size_));
  if (now->changed != changed_) return fileError(path_, "changed while it was open: open it again");
  return success();
}

Status RegularFile::read(std::uint64_t offset, std::span<std::uint8_t> to) const {
  require(offset <= size_ && to.size() <= size_ - offset,
          fmt::format("bytes [{}, +{}] are outside the file's {}", offset, to.size(), size_));
  // Some systems reject reads of more than 2 GiB.
  constexpr std::size_t kChunk = std::size_t{1} << 30;
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t got = ::pread(descriptor_.get(), to.data() + done, std::min(kChunk, to.size() - done),
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fileError(path_, "cannot be read: " + systemText(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  // Check the size last: a file truncated during the read may yield zeros for the lost bytes.
  const auto now = stateOf(descriptor_, path_);
  if (!now) return now.error();
  if (now->size < size_)
    return fileError(path_, fmt::format("became shorter while it was read: found {} bytes, expected {}",
                                        now->size, size_));
  if (done < to.size())
    return fileError(path_, fmt::format("ended after {} bytes, expected {}", offset + done, size_));
  return success();
}

const char* kindOfFile(unsigned mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string systemText(int code) {
  return std::generic_category().message(code);
}

std::string shownPath(const std::filesystem::path& path) {
  return escapedText(path.string());
}

Error fileError(const std::filesystem::path& path, const std::string& what) {
  return Error{shownPath(path) + ": " + what};
}

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

namespace {

/// Returns 0 or the error number.
int writeAll(int fd, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kChunk = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), std::min(kChunk, bytes.size()));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return 0;
}

/// Makes the rename itself durable. Failure is not an error: some file systems can't flush a folder, and the
/// contents are already safe.
void flushFolder(const std::filesystem::path& file) {
  const auto folder = file.parent_path();
  const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

}  // namespace

bool fileExists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

ContentMark contentMark(std::string_view content) {
  return std::hash<std::string_view>()(content);
}

std::optional<ContentMark> contentMarkOf(const std::filesystem::path& path) {
  const auto bytes = readFile(path);
  if (!bytes) return std::nullopt;
  return contentMark({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& path, std::uint64_t maxBytes) {
  const auto file = RegularFile::open(path);
  if (!file) return file.error();
  return readFile(*file, maxBytes);
}

Result<std::vector<std::uint8_t>> readFile(const RegularFile& file, std::uint64_t maxBytes) {
  const auto size = file.size();
  if (size > maxBytes)
    return fileError(file.path(), fmt::format("is {} bytes, expected at most {}", size, maxBytes));
  try {
    std::vector<std::uint8_t> bytes(size);
    if (const auto status = file.read(0, bytes); !status) return status.error();
    return bytes;
  } catch (const std::bad_alloc&) {
    return fileError(file.path(), fmt::format("is {} bytes, more than there is memory for", size));
  }
}

Result<Replacement> Replacement::of(const std::filesystem::path& path) {
  if (path.empty()) return Error{"an empty path is not the name of a file"};
  if (path.filename().empty()) return fileError(path, "is not the name of a file");
  const auto failed = [&](const std::string& why) { return fileError(path, "cannot be written: " + why); };
  std::filesystem::path target = path;
  std::optional<unsigned> mode;
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode))
      return fileError(path, std::string("is ") + kindOfFile(info.st_mode) + ", expected a regular file");
    // The rename would succeed anyway, but a write-protected file is meant to stay.
    if (::access(path.c_str(), W_OK) != 0) return failed(systemText(errno));
    std::error_code code;
    target = std::filesystem::canonical(path, code);
    if (code) return failed(code.message());
    mode = info.st_mode & 07777;
  } else if (errno != ENOENT) {
    return failed(systemText(errno));
  } else if (::lstat(path.c_str(), &info) == 0) {
    return fileError(path, "is a broken link, expected a file");
  }
  auto [file, code] = TemporaryFile::create(target);
  if (!file) return failed(systemText(code));
  return Replacement(path, std::move(target), mode, *std::move(file));
}

Status Replacement::complete() {
  int code = 0;
  if (mode_ && ::fchmod(descriptor(), *mode_) != 0) code = errno;
  if (code == 0 && ::fsync(descriptor()) != 0) code = errno;
  if (code == 0) code = file_.moveTo(target_);
  if (code != 0) return fileError(path_, "cannot be written: " + systemText(code));
  flushFolder(target_);
  return success();
}

Status writeFileInParts(const std::filesystem::path& path,
                        const std::function<Status(const FileSink&)>& produce) {
  auto file = Replacement::of(path);
  if (!file) return file.error();
  int code = 0;
  const Status produced = produce([&](std::span<const std::uint8_t> bytes) {
    if (code == 0) code = writeAll(file->descriptor(), bytes);
    return code == 0;
  });
  if (code != 0) return fileError(path, "cannot be written: " + systemText(code));
  return produced ? file->complete() : produced;
}

Status writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  return writeFileInParts(path, [&](const FileSink& sink) {
    sink(bytes);
    return success();
  });
}

Status writeFile(const std::filesystem::path& path, std::string_view text) {
  return writeFile(path, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

}  // namespace headscope::attention
