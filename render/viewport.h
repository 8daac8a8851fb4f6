#pragma once

#include <array>
#include <span>

#include "render/heatmap_layout.h"

namespace headscope::render {

/// Sets the viewport to width × height pixels of the bound framebuffer and fills the boxes with `color`.
void clearViewport(int width, int height, std::span<const PixelBox> boxes, const std::array<float, 3>& color);
/// Fills the whole viewport.
inline void clearViewport(int width, int height, const std::array<float, 3>& color) {
  const PixelBox whole{0, 0, width, height};
  clearViewport(width, height, {&whole, 1}, color);
}

}  // namespace headscope::render
