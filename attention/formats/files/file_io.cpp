#include "attention/formats/files/file_io.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <system_error>

#include "attention/formats/files/system_files.h"
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
         readAt(descriptor, start, kStart.size(), 0) == std::ssize(kStart) &&
         std::string_view(start, kStart.size()) == kStart;
}

Result<FileState> checkedState(const Descriptor& file, const std::filesystem::path& path) {
  FileState state;
  if (const int code = stateOf(file.get(), state))
    return fileError(path, "cannot be read: " + systemText(code));
  return state;
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
  Descriptor descriptor = openToRead(path);
  if (descriptor.get() < 0) return fileError(path, "cannot be opened: " + systemText(errno));
  const auto state = checkedState(descriptor, path);
  if (!state) return state.error();
  if (!isRegular(state->mode))
    return fileError(path, std::string("is ") + kindOfFile(state->mode) + ", expected a regular file");
  if (isLfsPointer(descriptor.get(), state->size))
    return fileError(path, "is a Git LFS pointer in place of the file: run git lfs pull to fetch it");
  return RegularFile(path, std::move(descriptor), state->size, state->changed);
}

Status RegularFile::unchanged() const {
  const auto now = checkedState(descriptor_, path_);
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
    const std::ptrdiff_t got =
        readAt(descriptor_.get(), to.data() + done, std::min(kChunk, to.size() - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fileError(path_, "cannot be read: " + systemText(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  // Check the size last: a file truncated during the read may yield zeros for the lost bytes.
  const auto now = checkedState(descriptor_, path_);
  if (!now) return now.error();
  if (now->size < size_)
    return fileError(path_, fmt::format("became shorter while it was read: found {} bytes, expected {}",
                                        now->size, size_));
  if (done < to.size())
    return fileError(path_, fmt::format("ended after {} bytes, expected {}", offset + done, size_));
  return success();
}

std::string shownPath(const std::filesystem::path& path) {
  return escapedText(path.string());
}

Error fileError(const std::filesystem::path& path, const std::string& what) {
  return Error{shownPath(path) + ": " + what};
}

namespace {

constexpr std::size_t kLongestName = 4096;

/// Names of files being written, in static memory for the signal handler.
struct Slot {
  std::atomic<bool> taken = false, holds = false;
  char name[kLongestName] = {};
};
std::array<Slot, 16> openFiles;

/// Adds a name to those that a signal removes. Does nothing if the list is full or the name too long; the
/// file then remains if the program is killed while writing it.
void enlist(const std::string& name) {
  if (name.size() >= kLongestName) return;
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

}  // namespace

template <typename Give>
int TemporaryFile::giveName(const std::filesystem::path& target, std::string& name, Give give) {
  static std::atomic<unsigned> counter = 0;
  constexpr int kAttempts = 100;
  // The temporary name isn't derived from the target's, which may be near the limit of 255 bytes.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto path = target.parent_path() / fmt::format(".headscope-{}-{}.tmp", processId(), counter++);
    name = path.string();
    // Before the file exists: a signal may arrive right after.
    enlist(name);
    const int code = give(path);
    if (code == 0) return 0;
    strike(name);
    if (code != EEXIST) return code;
  }
  return EEXIST;
}

std::pair<std::optional<TemporaryFile>, int> TemporaryFile::create(const std::filesystem::path& target,
                                                                   Naming naming) {
  if (naming == Naming::onCompletion)
    if (Descriptor unnamed = openUnnamed(target.parent_path()); unnamed.get() >= 0)
      return {TemporaryFile(std::move(unnamed), ""), 0};
  std::string name;
  Descriptor file(-1);
  const int code = giveName(target, name, [&](const std::filesystem::path& path) {
    file = openToWrite(path, Creation::always, false);
    return file.get() >= 0 ? 0 : errno;
  });
  if (code != 0) return {std::nullopt, code};
  return {TemporaryFile(std::move(file), std::move(name)), 0};
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : file_(std::move(other.file_)), name_(std::exchange(other.name_, {})) {}

TemporaryFile::~TemporaryFile() {
  if (name_.empty()) return;
  if (file_.get() >= 0) (void)file_.close();  // not every system removes an open file
  std::error_code ignored;
  std::filesystem::remove(name_, ignored);
  strike(name_);
}

int TemporaryFile::moveTo(const std::filesystem::path& target) {
  if (name_.empty()) {
    const auto link = [&](const std::filesystem::path& path) { return nameFile(file_.get(), path); };
    const int code = link(target);
    if (code != EEXIST) return code;
    // Only a rename of a named file can replace an existing file.
    std::string name;
    if (const int refused = giveName(target, name, link)) return refused;
    name_ = std::move(name);
  }
  // A network file system may report a full disk only here.
  if (!file_.close()) return errno;
  if (const int code = moveFile(name_, target)) return code;
  strike(std::exchange(name_, {}));
  return 0;
}

void removeTemporaryFiles() {
  for (const Slot& slot : openFiles)
    if (slot.holds) ::unlink(slot.name);
}

namespace {

/// Returns 0 or the error number.
int writeAll(int fd, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kChunk = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const auto put = ::write(fd, bytes.data(), std::min(kChunk, bytes.size()));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace

bool fileExists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::filesystem::path newTemporaryFile(const std::string& ending) {
  static std::atomic<unsigned> counter = 0;
  constexpr int kAttempts = 100;
  std::error_code failed;
  const auto folder = std::filesystem::temp_directory_path(failed);
  for (int attempt = 0; !failed && attempt < kAttempts; ++attempt) {
    auto path = folder / fmt::format("headscope-{}-{}{}", processId(), counter++, ending);
    if (openToWrite(path, Creation::always, true).get() >= 0) return path;
  }
  return {};
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
  FileState state;
  if (const int code = stateOf(path, state); code == 0) {
    if (!isRegular(state.mode))
      return fileError(path, std::string("is ") + kindOfFile(state.mode) + ", expected a regular file");
    // The rename would succeed anyway, but a write-protected file is meant to stay.
    if (const int refused = checkWritable(path)) return failed(systemText(refused));
    std::error_code error;
    target = std::filesystem::canonical(path, error);
    if (error) return failed(error.message());
    mode = state.mode & 07777;
  } else if (code != ENOENT) {
    return failed(systemText(code));
  } else if (std::error_code none; std::filesystem::is_symlink(path, none)) {
    return fileError(path, "is a broken link, expected a file");
  }
  auto [file, code] = TemporaryFile::create(target);
  if (!file) return failed(systemText(code));
  return Replacement(path, std::move(target), mode, *std::move(file));
}

Status Replacement::complete() {
  int code = mode_ ? setMode(descriptor(), *mode_) : 0;
  if (code == 0) code = flushFile(descriptor());
  if (code == 0) code = file_.moveTo(target_);
  if (code != 0) return fileError(path_, "cannot be written: " + systemText(code));
  // Failure is not an error: some file systems can't flush a folder, and the contents are already safe.
  flushFolder(target_.parent_path());
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
