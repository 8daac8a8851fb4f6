#pragma once

#include <string>

#include "render/gl_objects.h"

namespace headscope::render {

/// A magnifier for what has been drawn. Its context must be current when it draws and when it is destroyed.
class Magnifier {
 public:
  /// Throws std::runtime_error if the shaders don't compile.
  Magnifier(const std::string& vertexSource, const std::string& fragmentSource);

  /// Enlarges the bound framebuffer of width × height pixels by `factor` around (x, y), which stays in place;
  /// y counts from the top. Factors of 1 or less have no effect.
  void draw(int width, int height, float x, float y, float factor) const;

 private:
  Program program_;
  VertexArray array_;
};

}  // namespace headscope::render
