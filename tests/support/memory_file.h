#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>

namespace headscope::test {

/// A regular file held in memory only, so nothing remains of it however the program ends.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) : fd_(::memfd_create("test", MFD_CLOEXEC)) {
    if (fd_ < 0 || ::write(fd_, bytes.data(), bytes.size()) != std::ssize(bytes))
      throw std::runtime_error("cannot create a file in memory");
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace headscope::test
