#include "render/viewport.h"

#include "render/gl.h"

namespace headscope::render {

void clearViewport(int width, int height, std::span<const PixelBox> boxes,
                   const std::array<float, 3>& color) {
  glViewport(0, 0, width, height);
  glEnable(GL_SCISSOR_TEST);
  glClearColor(color[0], color[1], color[2], 1);
  for (const PixelBox& box : boxes) {
    glScissor(box.x0, height - box.y1, box.x1 - box.x0, box.y1 - box.y0);
    glClear(GL_COLOR_BUFFER_BIT);
  }
  glDisable(GL_SCISSOR_TEST);
}

}  // namespace headscope::render
