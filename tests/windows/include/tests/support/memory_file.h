#pragma once

#include "tests/support/temporary_folder.h"

namespace headscope::test {

/// A file in its own folder, because Windows has none in memory only.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) { putFile(folder_ / "test", bytes); }

  std::string path() const { return (folder_ / "test").string(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace headscope::test
