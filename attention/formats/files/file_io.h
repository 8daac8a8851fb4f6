#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// A file that is being written. If the system allows, it has no name until it is complete, so no file
/// remains however the program ends; otherwise it has a hidden name next to its target.
class TemporaryFile {
 public:
  enum class Naming { onCompletion, immediately };

  /// Creates a file next to `target`, unnamed if `naming` and the system allow; or returns the error number.
  static std::pair<std::optional<TemporaryFile>, int> create(const std::filesystem::path& target,
                                                             Naming naming = Naming::onCompletion);
  /// Removes the file unless it was moved to its target.
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  int descriptor() const { return file_.get(); }
  /// Closes the file and moves it to `target`, replacing what is there. Returns 0 or the error number.
  int moveTo(const std::filesystem::path& target);

 private:
  TemporaryFile(Descriptor file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  /// Finds an unused hidden name next to `target` for which `give` succeeds. Returns 0 or the error number.
  template <typename Give>
  static int giveName(const std::filesystem::path& target, std::string& name, Give give);

  Descriptor file_;
  std::string name_;  ///< empty before the file has a name and after moveTo()
};

/// Removes the hidden files being written, for when the program ends early. Safe in a signal handler.
void removeTemporaryFiles();
/// Makes SIGINT, SIGTERM and SIGHUP remove these files before ending the program, unless the signals are
/// ignored or handled already. Also ignores SIGXFSZ, so exceeding the file size limit only fails the write.
void removeTemporaryFilesOnSignals();

/// Reads a whole regular file. Returns an Error if it is missing, a directory, a pipe or device, unreadable,
/// or larger than `maxBytes` (before allocating anything), or if reading fails.
Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& path,
                                           std::uint64_t maxBytes = std::uint64_t{8} << 30);
/// The same for a file that is open.
Result<std::vector<std::uint8_t>> readFile(const RegularFile& file, std::uint64_t maxBytes);

bool fileExists(const std::filesystem::path& path);

/// A number by which contents of files are compared.
using ContentMark = std::uint64_t;
ContentMark contentMark(std::string_view content);
/// The mark of a file; nothing if it can't be read.
std::optional<ContentMark> contentMarkOf(const std::filesystem::path& path);

/// A file being written in place of `path`, into a temporary file in the same folder: a full disk or a crash
/// keeps the old file. The temporary file is removed unless it is completed.
class Replacement {
 public:
  /// Follows links. A directory, pipe or device is an Error; so is a write-protected file, which stays
  /// unchanged.
  static Result<Replacement> of(const std::filesystem::path& path);

  /// Write to it, or let another program do so.
  int descriptor() const { return file_.descriptor(); }
  /// Flushes it to disk, and renames it to the path. Keeps the old file's mode.
  Status complete();

 private:
  Replacement(std::filesystem::path path, std::filesystem::path target, std::optional<unsigned> mode,
              TemporaryFile file)
      : path_(std::move(path)), target_(std::move(target)), mode_(mode), file_(std::move(file)) {}

  std::filesystem::path path_, target_;  ///< the path as given, for messages, and without links
  std::optional<unsigned> mode_;         ///< of the file that is replaced
  TemporaryFile file_;
};

/// Writes a Replacement with that content.
Status writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
Status writeFile(const std::filesystem::path& path, std::string_view text);

/// Takes the next bytes of a file. Returns false once writing has failed; further calls do nothing.
using FileSink = std::function<bool(std::span<const std::uint8_t>)>;
/// Like writeFile(), for files too large for memory: `produce` passes the bytes to the sink in parts. If it
/// returns an Error, the old file stays.
Status writeFileInParts(const std::filesystem::path& path,
                        const std::function<Status(const FileSink&)>& produce);

}  // namespace headscope::attention
