#include "render/heatmap_shader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "render/heatmap_lookup.h"

namespace headscope::render {
namespace {

void setColor(GLint at, const Color& color) {
  glUniform3f(at, color.r, color.g, color.b);
}

std::string definesOf(int features) {
  std::string defines;
  if ((features & HeatmapShader::kMixPrevious) != 0) defines += "#define MIX_PREVIOUS\n";
  if ((features & HeatmapShader::kMarks) != 0) defines += "#define MARKS\n";
  if ((features & HeatmapShader::kPool) != 0) defines += "#define POOL\n";
  if ((features & HeatmapShader::kLogarithmic) != 0) defines += "#define LOGARITHMIC\n";
  if ((features & HeatmapShader::kFade) != 0) defines += "#define FADE\n";
  if ((features & HeatmapShader::kMean) != 0) defines += "#define MEAN\n";
  return defines;
}

}  // namespace

HeatmapGap::HeatmapGap(const HeatmapStyle& style, float smallestCell)
    : width(std::max(style.gap, 0.0f)),
      strength(width > 0.0f ? smoothStep(6.0f, 10.0f, smallestCell / width) : 0.0f) {}

HeatmapShader::HeatmapShader(const std::string& vertexSource, const std::string& fragmentSource, int features)
    : program_(makeProgram("heatmap", vertexSource, fragmentSource, definesOf(features))) {
  const auto at = [this](const char* name) { return glGetUniformLocation(program_.id(), name); };
  at_ = {.blend = at("blend"),
         .cellsPerPixel = at("cellsPerPixel"),
         .firstPixel = at("firstPixel"),
         .cellSize = at("cellSize"),
         .firstCell = at("firstCell"),
         .perCell = at("perCell"),
         .lastCell = at("lastCell"),
         .gap = at("gap"),
         .range = at("range"),
         .litRows = at("litRows"),
         .fade = at("fade"),
         .background = at("background"),
         .hatch = at("hatch"),
         .pooled = at("pooled")};
  use();
  glUniform1i(at("currentValues"), 0);
  glUniform1i(at("previousValues"), 1);
  glUniform1i(at("colormap"), 2);
  glUseProgram(0);
}

void HeatmapShader::setValues(const HeatmapStyle& style, float blend) const {
  double low = style.low, high = style.high;
  if (style.logarithmic) {
    low = std::log2(low);
    high = std::log2(high);
  }
  // An empty range shows every value as its low end. The zeros and the clamp keep 0 · ∞ out of the shader.
  const double largest = std::numeric_limits<float>::max();
  const double scale = high != low ? std::clamp(255.0 / (high - low), -largest, largest) : 0.0;
  glUniform2f(at_.range, static_cast<float>(scale == 0.0 ? 0.0 : low), static_cast<float>(scale));
  glUniform1f(at_.blend, std::max(blend, 0.0f));
}

void HeatmapShader::setGeometry(const HeatmapView& view, const HeatmapLayout& layout, int rows,
                                int cols) const {
  const double perX = 1.0 / layout.cellWidth, perY = 1.0 / layout.cellHeight;
  // Whole cells are passed separately as integers, so that fractions stay exact far into a large matrix.
  const double wholeCol = std::floor(view.firstCol), wholeRow = std::floor(view.firstRow);
  const double firstX = (kLean - view.target.x0) * perX + (view.firstCol - wholeCol);
  const double firstY = (kLean + layout.height - view.target.y0) * perY + (view.firstRow - wholeRow);
  glUniform2f(at_.cellsPerPixel, static_cast<float>(perX), static_cast<float>(-perY));
  glUniform2f(at_.firstPixel, static_cast<float>(firstX), static_cast<float>(firstY));
  glUniform2f(at_.cellSize, static_cast<float>(layout.cellWidth), static_cast<float>(layout.cellHeight));
  glUniform2f(at_.firstCell, static_cast<float>(wholeCol + 0.5), static_cast<float>(wholeRow + 0.5));
  glUniform2f(at_.perCell, static_cast<float>(1.0 / cols), static_cast<float>(1.0 / rows));
  glUniform2i(at_.lastCell, cols - 1, rows - 1);
  const auto left = static_cast<float>(view.firstCol - wholeCol),
             top = static_cast<float>(view.firstRow - wholeRow);
  glUniform4f(at_.pooled, left, top, left + view.cols, top + view.rows);
  // Rounding can put an edge pixel one row past the last. It shows the last row and must not fade.
  glUniform1f(at_.litRows,
              view.litRows < rows ? static_cast<float>(view.litRows) : std::numeric_limits<float>::max());
  glUniform1f(at_.fade, view.fade);
}

void HeatmapShader::setMarks(const Color& background, const HeatmapGap& gap, int hatchPeriod,
                             int framebufferHeight) const {
  setColor(at_.background, background);
  // The hatch follows x + y and x − y with y from the top; the shift converts OpenGL's y from the bottom. The
  // half pixel keeps whole numbers off the edges of fract().
  const double period = hatchPeriod, shift = framebufferHeight % hatchPeriod;
  glUniform4f(at_.hatch, static_cast<float>(period), static_cast<float>(1 / period),
              static_cast<float>((shift + 0.5) / period),
              static_cast<float>((period - shift + 0.5) / period));
  glUniform2f(at_.gap, 1.0f + gap.width, gap.strength);
}

}  // namespace headscope::render
