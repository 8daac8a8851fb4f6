#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

/// The whole of a regular file. Errors: missing, a directory, a pipe or device, no permission, larger
/// than `maxBytes` (nothing is allocated then), an I/O failure.
Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& path,
                                           std::uint64_t maxBytes = std::uint64_t{8} << 30);

bool isThere(const std::filesystem::path& path);

/// Writes to a temporary file in the same folder, flushes it to disk, and renames it over `path`, so
/// that a full disk or a crash leaves what was there. Nothing is left of the temporary file on failure. A
/// link is followed; a directory, pipe or device is an error; a file that may not be written stays as it is.
Status writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
Status writeFile(const std::filesystem::path& path, std::string_view text);

/// Takes the next bytes of a file; false where no more can be written, and then nothing is gained by more.
using FileSink = std::function<bool(std::span<const std::uint8_t>)>;
/// The same for a file too large to be held: `produce` hands its bytes to the sink in parts.
Status writeFileInParts(const std::filesystem::path& path,
                        const std::function<void(const FileSink&)>& produce);

}  // namespace headscope::attention
