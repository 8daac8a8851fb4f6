#pragma once

#include <cstdint>
#include <span>

namespace headscope::attention {

/// Returns the camera orientation, 1 to 8 (Exif 2.32, tag 0x0112), in the first directory of EXIF data, which
/// is a TIFF structure; 1 (upright) if it is missing or can't be read.
int exifOrientation(std::span<const std::uint8_t> tiff);

}  // namespace headscope::attention
