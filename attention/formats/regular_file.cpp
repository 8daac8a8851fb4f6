#include "attention/formats/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace headscope::attention {

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

Result<RegularFile> openToRead(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe waits for a writer that may never come.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (descriptor.get() < 0) return fileError(path, "cannot be opened: " + systemText(errno));
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) return fileError(path, "cannot be read: " + systemText(errno));
  if (!S_ISREG(info.st_mode)) {
    return fileError(path, std::string("is ") + kindOfFile(info.st_mode) + ", expected a regular file");
  }
  return RegularFile{std::move(descriptor), static_cast<std::uint64_t>(info.st_size)};
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

Error fileError(const std::filesystem::path& path, const std::string& what) {
  return Error{path.string() + ": " + what};
}

}  // namespace headscope::attention
