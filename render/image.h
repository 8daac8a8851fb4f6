#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::render {

/// 8-bit RGBA pixels, top row first.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  ///< [height, width, 4]
};

/// Of pixels [height, width, 4] whose first row is the lowest, as OpenGL has them.
Image imageFromBottom(int width, int height, std::vector<std::uint8_t> rgba);

/// Without alpha where all of it is opaque. Several threads compress, where there are any.
std::vector<std::uint8_t> encodePng(const Image& image);
/// Throws std::runtime_error on bytes that are not a PNG.
Image decodePng(std::span<const std::uint8_t> bytes);

}  // namespace headscope::render
