#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "attention/core/result.h"
#include "attention/formats/regular_file.h"

namespace headscope::attention {

/// A regular file mapped into memory, to be read in parts however large it is. Move-only; several threads may
/// copy from it at once.
///
/// A mapped file that another program cuts short turns reads into a SIGBUS signal, so its bytes are only ever
/// copied out, and the copy catches the signal. The handler for it is installed with the first mapped file
/// and passes every other SIGBUS on to whoever handled it before.
class MappedFile {
 public:
  /// Errors as readFile() has them, and where the address space has no room. Reads nothing yet; an empty file
  /// is fine.
  static Result<MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  /// Bytes the file had when it was opened.
  std::uint64_t size() const { return size_; }

  /// Copies the bytes from `offset` on; throws std::invalid_argument if they don't lie within size(). An
  /// error if the file became shorter than size(), even while it is copied, or can't be read; `to` then holds
  /// nothing of use.
  Status copy(std::uint64_t offset, std::span<std::uint8_t> to) const;

 private:
  MappedFile(std::filesystem::path path, RegularFile file, const std::uint8_t* data);
  Status checkSize() const;

  std::filesystem::path path_;
  Descriptor descriptor_;
  const std::uint8_t* data_ = nullptr;  // null when the file is empty
  std::uint64_t size_ = 0;
};

}  // namespace headscope::attention
