#include "render/viewport.h"

#include "render/gl.h"

namespace headscope::render {

void clearViewport(int width, int height, const std::array<float, 3>& color) {
  glViewport(0, 0, width, height);
  glDisable(GL_SCISSOR_TEST);
  glClearColor(color[0], color[1], color[2], 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

}  // namespace headscope::render
