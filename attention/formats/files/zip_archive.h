#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

/// A zip archive whose members are read when they are asked for, and in parts: stored ones from anywhere,
/// compressed ones fastest from front to back. Copies share the archive; several threads may read, one after
/// the other.
class ZipArchive {
 public:
  struct Member {
    std::string name;
    std::uint64_t size = 0;  ///< in bytes, uncompressed
    bool stored = false;     ///< without compression
  };

  /// Reads the directory alone. Errors: those of RegularFile, what is no zip archive, more than kMostMembers,
  /// members that are encrypted or share a name.
  static Result<ZipArchive> open(const std::filesystem::path& path);
  static constexpr std::int64_t kMostMembers = 1 << 16;

  const std::vector<Member>& members() const;
  /// Fills `to` with a member's bytes from `offset` on; throws std::invalid_argument if they don't lie within
  /// it. Errors: damaged data, a file that can't be read any more.
  Status read(std::size_t member, std::uint64_t offset, std::span<std::uint8_t> to) const;

 private:
  struct Opened;
  explicit ZipArchive(std::shared_ptr<Opened> opened) : opened_(std::move(opened)) {}
  std::shared_ptr<Opened> opened_;
};

/// Whether a file's first bytes, eight or more, are those of a zip archive and no safetensors file's.
bool beginsAsZip(std::span<const std::uint8_t> start);

}  // namespace headscope::attention
