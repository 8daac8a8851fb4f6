#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "attention/core/result.h"

namespace headscope::attention {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  int get() const { return fd_; }
  /// Closes and returns whether that succeeded: a network file system may report a full disk only here.
  bool close();

 private:
  int fd_;
};

/// A regular file, opened to be read.
struct RegularFile {
  Descriptor descriptor;
  std::uint64_t size = 0;  ///< bytes
};

/// Errors: missing, a directory, a pipe or device, no permission. Never waits for a pipe's writer.
Result<RegularFile> openToRead(const std::filesystem::path& path);

/// "a directory", "a pipe", … for the mode that stat() found, which is not a regular file's.
const char* kindOfFile(unsigned mode);

/// The system's words for an error number.
std::string systemText(int code);
Error fileError(const std::filesystem::path& path, const std::string& what);

}  // namespace headscope::attention
