#pragma once

#include <array>

namespace headscope::render {

/// Sets the viewport to width × height pixels of the bound framebuffer and fills it with `color`.
void clearViewport(int width, int height, const std::array<float, 3>& color);

/// Version and renderer of the current context, for messages and the status line.
struct ContextInfo {
  int version = 0;  ///< 33 for 3.3
  const char* renderer = "";
};
ContextInfo contextInfo();

}  // namespace headscope::render
