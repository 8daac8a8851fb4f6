#include "render/heatmap_shader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::render {
namespace {

/// Returns 0 up to `from`, 1 from `to` on, and a smooth ramp between.
float smoothStep(float from, float to, float x) {
  const float t = std::clamp((x - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

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
  return defines;
}

}  // namespace

Color over(const Color& ground, const Color& ink, float amount) {
  return {std::lerp(ground.r, ink.r, amount), std::lerp(ground.g, ink.g, amount),
          std::lerp(ground.b, ink.b, amount), 1};
}

HeatmapMarks::HeatmapMarks(const HeatmapStyle& style, float smallestCell) {
  gap = std::max(style.gap, 0.0f);
  gapStrength = gap > 0.0f ? smoothStep(6.0f, 10.0f, smallestCell / gap) : 0.0f;
  spacing = std::max(style.hatchSpacing, 4.0f);
  lineWidth = std::max(spacing / 12.0f, 1.0f);
  // Below about one line per cell, lines look like noise.
  lines = smoothStep(0.75f, 1.5f, smallestCell / spacing);
  maskedTone = lineWidth * std::sqrt(2.0f) / spacing;
  deadTone = 1.0f - (1.0f - maskedTone) * (1.0f - maskedTone);
  ground = over(style.background, style.masked, style.masked.a);
  maskedLines = over(ground, style.maskedHatch, style.maskedHatch.a);
  deadLines = over(ground, style.deadHatch, style.deadHatch.a);
}

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
         .hatchGround = at("hatchGround"),
         .maskedLines = at("maskedLines"),
         .deadLines = at("deadLines"),
         .hatchWave = at("hatchWave"),
         .hatchLine = at("hatchLine"),
         .hatchTone = at("hatchTone"),
         .pooled = at("pooled"),
         .poolMean = at("poolMean")};
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
  glUniform1i(at_.poolMean, view.pooling == CellPooling::mean ? 1 : 0);
  // Rounding can put an edge pixel one row past the last. It shows the last row and must not fade.
  glUniform1f(at_.litRows,
              view.litRows < rows ? static_cast<float>(view.litRows) : std::numeric_limits<float>::max());
  glUniform1f(at_.fade, view.fade);
}

void HeatmapShader::setMarks(const Color& background, const HeatmapMarks& marks,
                             int framebufferHeight) const {
  setColor(at_.background, background);
  setColor(at_.hatchGround, marks.ground);
  setColor(at_.maskedLines, marks.maskedLines);
  setColor(at_.deadLines, marks.deadLines);
  // The hatch follows x + y and x − y with y from the top; the shift converts OpenGL's y from the bottom.
  const double shift = std::fmod(framebufferHeight / double{marks.spacing}, 1.0);
  glUniform3f(at_.hatchWave, 1.0f / marks.spacing, static_cast<float>(shift),
              static_cast<float>(1.0 - shift));
  glUniform2f(at_.hatchLine, 0.5f * marks.lineWidth + 0.5f, marks.spacing * std::sqrt(0.5f));
  glUniform3f(at_.hatchTone, marks.maskedTone, marks.deadTone, 1.0f - marks.lines);
  glUniform2f(at_.gap, 1.0f + marks.gap, marks.gapStrength);
}

}  // namespace headscope::render
