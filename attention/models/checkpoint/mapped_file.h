#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "attention/core/result.h"

namespace headscope::attention {

/// A regular file, mapped for reading in place. Reads come from the system's page cache, so the file may be
/// much larger than memory.
///
/// Reading a mapped file that has become shorter, or whose disk is gone, raises a bus error, which would end
/// the program. Here the lost pages read as zeros from then on, and intact() reports it: a SIGBUS handler,
/// installed with the first mapping, maps zeros over them and passes bus errors elsewhere to the previous
/// handler. pread would need no handler, but would copy every weight once more for every token.
class MappedFile {
 public:
  /// Returns an Error if the path is missing, is a directory, a pipe or a device, can't be read or mapped, or
  /// if too many files are mapped at once. Follows symbolic links.
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;
  ~MappedFile();

  const std::filesystem::path& path() const;
  /// The whole file. Call intact() after reading, before showing what was read.
  std::span<const std::uint8_t> bytes() const;
  /// Returns an Error if part of the mapping was lost, or if the file's size or change time differs from when
  /// it was opened.
  Status intact() const;

 private:
  struct State;
  explicit MappedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headscope::attention
