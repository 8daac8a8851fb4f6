#pragma once

#include <string>

#include "render/gl_objects.h"
#include "render/heatmap.h"
#include "render/heatmap_layout.h"

namespace headscope::render {

/// The gaps between large cells.
struct HeatmapGap {
  float width, strength;  ///< pixels; 0..1

  HeatmapGap(const HeatmapStyle& style, float smallestCell);
};

/// One variant of the heatmap shader. The second fetch and the marks slow down a software rasteriser even
/// when they are invisible, so they are compiled in only when used.
class HeatmapShader {
 public:
  /// Pooled cells are smaller than a pixel and have no marks; kMean pools their mean instead of their
  /// maximum.
  enum Feature {
    kPlain = 0,
    kMixPrevious = 1,
    kMarks = 2,
    kPool = 4,
    kLogarithmic = 8,
    kFade = 16,
    kMean = 32
  };

  HeatmapShader(const std::string& vertexSource, const std::string& fragmentSource, int features);

  // Call use() first, then the setters, then draw.
  void use() const { glUseProgram(program_.id()); }
  void setValues(const HeatmapStyle& style, float blend) const;
  void setGeometry(const HeatmapView& view, const HeatmapLayout& layout, int rows, int cols) const;
  void setMarks(const Color& background, const HeatmapGap& gap, int hatchPeriod, int framebufferHeight) const;

 private:
  Program program_;
  // Uniform locations; −1 if this variant lacks the uniform, which OpenGL ignores.
  struct {
    GLint blend, cellsPerPixel, firstPixel, cellSize, firstCell, perCell, lastCell, gap, range, litRows, fade,
        background, hatch, pooled;
  } at_;
};

}  // namespace headscope::render
