#pragma once

#include <array>

namespace headscope::render {

/// Sets the viewport to width × height pixels of the bound framebuffer and fills it with `color`.
void clearViewport(int width, int height, const std::array<float, 3>& color);

}  // namespace headscope::render
