#include "attention/formats/files/regular_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

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

std::int64_t changeTime(const struct stat& info) {
  return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
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
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) return fileError(path, "cannot be read: " + systemText(errno));
  if (!S_ISREG(info.st_mode)) {
    return fileError(path, std::string("is ") + kindOfFile(info.st_mode) + ", expected a regular file");
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (isLfsPointer(descriptor.get(), size))
    return fileError(path, "is a Git LFS pointer in place of the file: run git lfs pull to fetch it");
  return RegularFile(path, std::move(descriptor), size, changeTime(info));
}

Status RegularFile::unchanged() const {
  struct stat info {};
  if (::fstat(descriptor_.get(), &info) != 0) return fileError(path_, "cannot be read: " + systemText(errno));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size != size_)
    return fileError(path_, fmt::format("became {} while it was open: found {} bytes, expected {}",
                                        size < size_ ? "shorter" : "longer", size, size_));
  if (changeTime(info) != changed_) return fileError(path_, "changed while it was open: open it again");
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
  struct stat info {};
  if (::fstat(descriptor_.get(), &info) != 0) return fileError(path_, "cannot be read: " + systemText(errno));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size < size_) {
    return fileError(
        path_, fmt::format("became shorter while it was read: found {} bytes, expected {}", size, size_));
  }
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

}  // namespace headscope::attention
