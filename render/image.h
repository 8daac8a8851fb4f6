#pragma once

#include <cstdint>
#include <vector>

namespace headscope::render {

/// 8-bit RGBA pixels, top row first.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  ///< [height, width, 4]
};

/// Makes an image from pixels [height, width, 4] whose first row is the bottom one, as in OpenGL.
Image imageFromBottom(int width, int height, std::vector<std::uint8_t> rgba);

/// Omits alpha if the image is opaque. Compresses on several threads if they are available.
std::vector<std::uint8_t> encodePng(const Image& image);

}  // namespace headscope::render
