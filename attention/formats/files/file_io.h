#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

/// Reads a whole regular file. Returns an Error if it is missing, a directory, a pipe or device, unreadable,
/// or larger than `maxBytes` (before allocating anything), or if reading fails.
Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& path,
                                           std::uint64_t maxBytes = std::uint64_t{8} << 30);

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
  Replacement(Replacement&&) noexcept;
  ~Replacement();

  /// Write to it, or let another program do so.
  int descriptor() const;
  /// Flushes it to disk, and renames it to the path. Keeps the old file's mode.
  Status complete();

 private:
  struct Parts;
  explicit Replacement(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// Writes a Replacement with that content.
Status writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
Status writeFile(const std::filesystem::path& path, std::string_view text);

/// Takes the next bytes of a file. Returns false once writing has failed; further calls do nothing.
using FileSink = std::function<bool(std::span<const std::uint8_t>)>;
/// Like writeFile(), for files too large for memory: `produce` passes the bytes to the sink in parts.
Status writeFileInParts(const std::filesystem::path& path,
                        const std::function<void(const FileSink&)>& produce);

}  // namespace headscope::attention
