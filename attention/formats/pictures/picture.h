#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// A picture in rows from the top, 8 bits per colour.
struct RgbImage {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> rgb = {};  ///< [height, width, 3]
  bool operator==(const RgbImage&) const = default;
};

/// Limits: larger files and pictures with more pixels aren't decoded.
inline constexpr std::uint64_t kMaxImageBytes = std::uint64_t{64} << 20;
inline constexpr Index kMaxImagePixels = Index{1} << 25;

/// Whether a file begins like a PNG or a JPEG.
bool isPicture(std::span<const std::uint8_t> bytes);

/// Decodes a PNG or JPEG. Drops transparency, expands grey to RGB, reduces 16 bits to 8, and rotates
/// according to the EXIF orientation, like Pillow's convert("RGB") and exif_transpose(). Returns an Error,
/// one sentence that begins with `name`, for other formats, damaged or truncated files, JPEGs of more than
/// 100 scans, when stopped, and, before allocating, for more than kMaxImagePixels.
Result<RgbImage> decodeImage(std::span<const std::uint8_t> bytes, const std::string& name,
                             const std::stop_token& stop = {});

/// Returns the camera orientation, 1 to 8 (Exif 2.32, tag 0x0112), in the first directory of EXIF data, which
/// is a TIFF structure; 1 (upright) if it is missing or can't be read.
int exifOrientation(std::span<const std::uint8_t> tiff);

}  // namespace headscope::attention
