#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "attention/formats/files/regular_file.h"

namespace headscope::attention {

/// A file on its way to its place. Where the system can, it has no name until it is whole, so that nothing is
/// left of it however the program ends; elsewhere it has a hidden name beside its place.
class TemporaryFile {
 public:
  enum class Naming { whenWhole, fromTheStart };

  /// Beside `target`, and whenWhole if the system can; or the error number.
  static std::pair<std::optional<TemporaryFile>, int> create(const std::filesystem::path& target,
                                                             Naming naming = Naming::whenWhole);
  /// Removes it unless it has come to its place.
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  int descriptor() const { return file_.get(); }
  /// Closes it and puts it in the place of whatever is at `target`; 0, or the error number.
  int moveTo(const std::filesystem::path& target);

 private:
  TemporaryFile(Descriptor file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  /// A hidden name beside `target` that nobody has, for what `give` makes of it: 0 or an error number.
  template <typename Give>
  static int giveName(const std::filesystem::path& target, std::string& name, Give give);

  Descriptor file_;
  std::string name_;  ///< empty: none yet, or none any more
};

/// Removes the hidden files that are being written: for ending the program in the middle of it. Safe in a
/// signal handler.
void removeTemporaryFiles();
/// From now on Ctrl+C, TERM and HUP do so before they end the program, where they would; and a limit on the
/// size of files is an error of the write alone.
void removeTemporaryFilesOnSignals();

}  // namespace headscope::attention
