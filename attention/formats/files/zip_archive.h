#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

/// A zip archive whose members are read on demand and in parts: stored members from anywhere, compressed ones
/// fastest from front to back. Copies share the archive. Thread-safe; reads are serialised.
class ZipArchive {
 public:
  struct Member {
    std::string name;
    std::uint64_t size = 0;  ///< in bytes, uncompressed
    bool stored = false;     ///< not compressed
  };

  /// Reads only the directory. Returns the errors of RegularFile, and an Error if the file isn't a zip
  /// archive, has more than kMaxMembers, or has members that are encrypted or share a name.
  static Result<ZipArchive> open(const std::filesystem::path& path);
  static constexpr std::int64_t kMaxMembers = 1 << 16;

  const std::vector<Member>& members() const;
  /// Fills `to` with a member's bytes, starting at `offset`. Throws std::invalid_argument if they exceed its
  /// size. Returns an Error if the data is damaged or the file can't be read any more.
  Status read(std::size_t member, std::uint64_t offset, std::span<std::uint8_t> to) const;

 private:
  struct Opened;
  explicit ZipArchive(std::shared_ptr<Opened> opened) : opened_(std::move(opened)) {}
  std::shared_ptr<Opened> opened_;
};

/// Whether a file's first bytes (at least eight) are a zip archive's rather than a safetensors file's.
bool hasZipSignature(std::span<const std::uint8_t> start);

}  // namespace headscope::attention
