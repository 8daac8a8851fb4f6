#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "attention/formats/files/regular_file.h"

namespace headscope::attention {

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

}  // namespace headscope::attention
