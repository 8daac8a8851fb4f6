#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// A picture as a screen shows it: rows from the top, 8 bits a colour.
struct RgbPicture {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> rgb = {};  ///< [height, width, 3]
  bool operator==(const RgbPicture&) const = default;
};

/// Files larger than this, and pictures of more pixels, aren't decoded.
inline constexpr std::uint64_t kMaxPictureBytes = std::uint64_t{64} << 20;
inline constexpr Index kMaxPicturePixels = Index{1} << 25;

/// Whether a file begins like a PNG or JPEG.
bool isPicture(std::span<const std::uint8_t> bytes);

/// Decodes a PNG or JPEG. Transparency is dropped, grey becomes three equal colours, 16 bits become 8, and a
/// photograph is turned as its EXIF orientation says, as Pillow's convert("RGB") and exif_transpose() have
/// it. Errors, each in one sentence that begins with `name`: another format, a damaged or cut file, more
/// pixels than kMaxPicturePixels, which is looked at before anything is allocated.
Result<RgbPicture> decodePicture(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace headscope::attention
