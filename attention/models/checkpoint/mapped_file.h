#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "attention/core/result.h"

namespace headscope::attention {

/// A regular file, mapped to be read where it lies: what is read comes from the system's own copy of the
/// file, and a file much larger than memory is fine.
///
/// Reading a mapping of a file that has since become shorter, or of a disk that is gone, is a bus error and
/// would end the program. Here the pages that are lost read as zeros from then on, and intact() says so: a
/// handler of SIGBUS, put in place with the first mapping, maps zeros over them; bus errors elsewhere go to
/// whoever handled them before. Reading with pread instead would need no handler, but copies every weight
/// once more for every token.
class MappedFile {
 public:
  /// Errors: missing, a directory, a pipe or device, no permission, what the system says to mapping it, too
  /// many files mapped at once. Symbolic links are followed.
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;
  ~MappedFile();

  const std::filesystem::path& path() const;
  /// All of the file. Ask intact() after reading, before what was read is shown to anyone.
  std::span<const std::uint8_t> bytes() const;
  /// An error if a part of the mapping was lost, or the file has another size or time of change than when it
  /// was opened.
  Status intact() const;

 private:
  struct State;
  explicit MappedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headscope::attention
