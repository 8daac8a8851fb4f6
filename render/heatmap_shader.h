#pragma once

#include <string>

#include "render/gl_objects.h"
#include "render/heatmap.h"
#include "render/heatmap_layout.h"

namespace headscope::render {

/// Returns `ground` covered by `amount` of `ink`, opaque.
Color over(const Color& ground, const Color& ink, float amount);

/// Marks that only large cells show: gaps, and hatch lines on masked and dead cells.
struct HeatmapMarks {
  float gap, gapStrength;      ///< pixels; 0..1
  float spacing, lineWidth;    ///< hatch, pixels
  float lines;                 ///< 1 = lines, 0 = an even tone of the same weight
  float maskedTone, deadTone;  ///< weight of that tone, 0..1
  Color ground, maskedLines, deadLines;

  HeatmapMarks(const HeatmapStyle& style, float smallestCell);
  Color maskedColor() const { return over(ground, maskedLines, maskedTone); }
  Color deadColor() const { return over(ground, deadLines, deadTone); }
  bool any() const { return gapStrength > 0.0f || lines > 0.0f; }
};

/// One variant of the heatmap shader. The second fetch and the marks slow down a software rasteriser even
/// when they are invisible, so they are compiled in only when used.
class HeatmapShader {
 public:
  /// Pooled cells are smaller than a pixel and have no marks.
  enum Feature { kPlain = 0, kMixPrevious = 1, kMarks = 2, kPool = 4, kLogarithmic = 8, kFade = 16 };

  HeatmapShader(const std::string& vertexSource, const std::string& fragmentSource, int features);

  // Call use() first, then the setters, then draw.
  void use() const { glUseProgram(program_.id()); }
  void setValues(const HeatmapStyle& style, float blend) const;
  void setGeometry(const HeatmapView& view, const HeatmapLayout& layout, int rows, int cols) const;
  void setMarks(const Color& background, const HeatmapMarks& marks, int framebufferHeight) const;

 private:
  Program program_;
  // Uniform locations; −1 if this variant lacks the uniform, which OpenGL ignores.
  struct {
    GLint blend, cellsPerPixel, firstPixel, cellSize, firstCell, perCell, lastCell, gap, range, litRows, fade,
        background, hatchGround, maskedLines, deadLines, hatchWave, hatchLine, hatchTone, pooled, poolMean;
  } at_;
};

}  // namespace headscope::render
