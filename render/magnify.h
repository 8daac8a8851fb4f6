#pragma once

#include <string>

#include "render/gl_objects.h"

namespace headscope::render {

/// Enlarges what was drawn. The context that made it must be current when it draws and when it goes.
class Magnifier {
 public:
  /// Throws std::runtime_error where the shaders don't compile.
  Magnifier(const std::string& vertexSource, const std::string& fragmentSource);

  /// Enlarges what the bound framebuffer of width × height pixels shows by `factor` about (x, y), which stays
  /// where it is; y counts from the top. A factor of 1 and below changes nothing.
  void draw(int width, int height, float x, float y, float factor) const;

 private:
  Program program_;
  VertexArray array_;
};

}  // namespace headscope::render
