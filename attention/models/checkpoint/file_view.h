#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace headscope::attention {

/// A memory range in which bytes that can't be read become zeros, where a process would otherwise end.
struct GuardedRange {
  std::atomic<std::uintptr_t> begin{0}, end{0};  ///< end 0: free
  std::atomic<bool> lost{false};                 ///< part of it reads as zeros
};

/// The ranges of the whole process. Those who handle faults may only use plain memory, no locks.
class GuardedRanges {
 public:
  /// Guards the whole pages within `bytes` bytes from `begin` until release(). Returns null if 1,024 ranges
  /// are guarded already.
  static GuardedRange* guard(const void* begin, std::size_t bytes);
  static void release(GuardedRange* range);
  static GuardedRange* at(std::uintptr_t address);
};

/// A file's bytes in memory, mapped to read. Each system has its own constructor and destructor.
class FileView {
 public:
  /// Maps a file of that many bytes, at least one. `data` is null with errno set on failure, and `range` is
  /// null if too many files are mapped.
  FileView(int descriptor, std::size_t bytes);
  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  GuardedRange* range = nullptr;
};

}  // namespace headscope::attention
