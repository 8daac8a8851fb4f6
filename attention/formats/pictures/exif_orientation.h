#pragma once

#include <cstdint>
#include <span>

namespace headscope::attention {

/// How a camera was held, 1 to 8 (Exif 2.32, tag 0x0112), as the APP1 segment of a JPEG says; 1, upright,
/// where none is found or it can't be read.
int exifOrientation(std::span<const std::uint8_t> jpeg);

}  // namespace headscope::attention
