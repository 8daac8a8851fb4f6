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
  /// Closes the descriptor. Returns false on failure: a network file system may report a full disk only here.
  bool close();

 private:
  int fd_;
};

/// A regular file opened for reading in parts, whatever its size. Move-only. Thread-safe.
class RegularFile {
 public:
  /// Opens a file. Returns an Error if it is missing, a directory, a pipe or device, unreadable, or a Git LFS
  /// pointer, which stands for the file until Git LFS has fetched it. Never waits for a pipe's writer. An
  /// empty file is fine.
  static Result<RegularFile> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// The file's size in bytes when it was opened.
  std::uint64_t size() const { return size_; }

  /// Owned by this object.
  int descriptor() const { return descriptor_.get(); }
  /// Returns an Error if the file's size or modification time has changed since opening, or if it is
  /// inaccessible.
  Status unchanged() const;

  /// Fills `to` with bytes, starting at `offset`. Throws std::invalid_argument if they exceed size(). Returns
  /// an Error if the file became shorter than size(), even during the read, or can't be read; `to` is then
  /// unspecified.
  Status read(std::uint64_t offset, std::span<std::uint8_t> to) const;

 private:
  RegularFile(std::filesystem::path path, Descriptor descriptor, std::uint64_t size, std::int64_t changed)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), size_(size), changed_(changed) {}

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t size_;
  std::int64_t changed_;  ///< modification time, nanoseconds since 1970
};

/// Returns "a directory", "a pipe", … for a mode from stat() that isn't a regular file's.
const char* kindOfFile(unsigned mode);

/// Formats a path for messages, escaping what could control a terminal.
std::string shownPath(const std::filesystem::path& path);

/// Returns the system's message for an error number.
std::string systemText(int code);
Error fileError(const std::filesystem::path& path, const std::string& what);

}  // namespace headscope::attention
