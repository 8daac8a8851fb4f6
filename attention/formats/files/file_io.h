#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

/// Reads a whole regular file. Returns an Error if it is missing, a directory, a pipe or device, unreadable,
/// or larger than `maxBytes` (before allocating anything), or if reading fails.
Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& path,
                                           std::uint64_t maxBytes = std::uint64_t{8} << 30);

bool fileExists(const std::filesystem::path& path);

/// Writes to a temporary file in the same folder, flushes it to disk, and renames it to `path`, so a full
/// disk or a crash keeps the old file. On failure the temporary file is removed. Follows links. A directory,
/// pipe or device is an Error; so is a write-protected file, which stays unchanged.
Status writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
Status writeFile(const std::filesystem::path& path, std::string_view text);

/// Takes the next bytes of a file. Returns false once writing has failed; further calls do nothing.
using FileSink = std::function<bool(std::span<const std::uint8_t>)>;
/// Like writeFile(), for files too large for memory: `produce` passes the bytes to the sink in parts.
Status writeFileInParts(const std::filesystem::path& path,
                        const std::function<void(const FileSink&)>& produce);

}  // namespace headscope::attention
