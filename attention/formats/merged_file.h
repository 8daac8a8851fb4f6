#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

#include "attention/core/result.h"
#include "attention/formats/files/file_io.h"

namespace headscope::attention {

/// Merges two changes of a JSON document: what `mine` changed since `base` is changed in `theirs`. Objects
/// are merged name by name, and lists as sets; any other value that both changed is `mine`'s. Returns `mine`
/// if one of the texts isn't JSON.
std::string mergedJson(std::string_view base, std::string_view mine, std::string_view theirs);

/// Held while a small file is read, changed and written, so that nobody who does the same with it comes in
/// between: a lock on the hidden file .NAME.lock beside it.
class ChangeLock {
 public:
  /// Creates the folder if necessary. Waits for whoever has the lock, but goes on without it after 10 s, or
  /// if it can't be made.
  explicit ChangeLock(const std::filesystem::path& path);

 private:
  Descriptor file_;
};

/// A small JSON file that every window of the program changes. Writing keeps what the others have written
/// since. Thread-safe.
class MergedFile {
 public:
  /// Sets what the file held when this program read it.
  void begin(std::string text);
  /// Writes what changed in `text` since the last call, or since begin(). Creates the folder if necessary.
  Status write(const std::filesystem::path& path, const std::string& text);

 private:
  std::mutex mutex_;
  std::string base_;
};

}  // namespace headscope::attention
