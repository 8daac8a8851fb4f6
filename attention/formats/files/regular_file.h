#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

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

/// A regular file, open to be read in parts however large it is. Move-only; several threads may read at once.
class RegularFile {
 public:
  /// Errors: missing, a directory, a pipe or device, no permission. Never waits for a pipe's writer. Reads
  /// nothing yet; an empty file is fine.
  static Result<RegularFile> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// Bytes the file had when it was opened.
  std::uint64_t size() const { return size_; }

  /// Stays this object's.
  int descriptor() const { return descriptor_.get(); }
  /// An error if the file has another size or time of change than when it was opened, or is out of reach.
  Status unchanged() const;

  /// Fills `to` with the bytes from `offset` on; throws std::invalid_argument if they don't lie within
  /// size(). An error if the file became shorter than size(), even while it is read, or can't be read; `to`
  /// then holds nothing of use.
  Status read(std::uint64_t offset, std::span<std::uint8_t> to) const;

 private:
  RegularFile(std::filesystem::path path, Descriptor descriptor, std::uint64_t size, std::int64_t changed)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), size_(size), changed_(changed) {}

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t size_;
  std::int64_t changed_;  ///< nanoseconds since 1970
};

/// "a directory", "a pipe", … for the mode that stat() found, which is not a regular file's.
const char* kindOfFile(unsigned mode);

/// A path for messages: what could steer a terminal is escaped.
std::string shownPath(const std::filesystem::path& path);

/// The system's words for an error number.
std::string systemText(int code);
Error fileError(const std::filesystem::path& path, const std::string& what);

}  // namespace headscope::attention
