#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

/// The whole of a regular file. Errors: missing, a directory, a pipe or device, no permission, larger
/// than `maxBytes` (nothing is allocated then), an I/O failure.
Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& path,
                                           std::uint64_t maxBytes = std::uint64_t{8} << 30);

/// Writes to a temporary file in the same folder, flushes it to disk, and renames it over `path`, so
/// that a full disk or a crash leaves what was there. The temporary file is removed on failure. A link
/// is followed; a directory, pipe or device is an error; a file that may not be written stays as it is.
Status writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
Status writeFile(const std::filesystem::path& path, std::string_view text);

}  // namespace headscope::attention
