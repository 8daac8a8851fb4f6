#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>

#include "render/gl_objects.h"
#include "render/heatmap.h"
#include "render/heatmap_layout.h"
#include "render/heatmap_shader.h"

namespace headscope::render {
namespace {

void setScissor(const PixelBox& box, int framebufferHeight) {
  glScissor(box.x0, framebufferHeight - box.y1, box.x1 - box.x0, box.y1 - box.y0);
}

void bindTexture(int unit, GLenum target, GLuint id) {
  glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
  glBindTexture(target, id);
  // A sampler left on the unit would override the texture's own filtering.
  glBindSampler(static_cast<GLuint>(unit), 0);
}

std::string layersText(const HeatmapTextures& t) {
  return std::to_string(t.layers()) + " × [" + std::to_string(t.rows()) + ", " + std::to_string(t.cols()) +
         "]";
}

void checkFits(const HeatmapTextures& current, const HeatmapTextures* previous, const HeatmapView& view,
               const HeatmapStyle& style) {
  if (view.layer < 0 || view.layer >= current.layers()) {
    throw std::invalid_argument("heatmap layer " + std::to_string(view.layer) + " of " + layersText(current));
  }
  if (previous && (previous->layers() != current.layers() || previous->rows() != current.rows() ||
                   previous->cols() != current.cols())) {
    throw std::invalid_argument("heatmaps of " + layersText(*previous) + " cannot blend into " +
                                layersText(current));
  }
  // Far beyond any matrix, and within what counts as a whole number.
  constexpr float kFarthest = 1 << 24;
  if (!(std::abs(view.firstRow) < kFarthest && std::abs(view.firstCol) < kFarthest)) {
    throw std::invalid_argument("a heatmap view from row " + std::to_string(view.firstRow) + ", column " +
                                std::to_string(view.firstCol));
  }
  if (!(view.rows > 0.0f && view.cols > 0.0f)) {
    throw std::invalid_argument("a heatmap view of " + std::to_string(view.rows) + " × " +
                                std::to_string(view.cols) + " cells");
  }
  if (style.logarithmic && !(style.low > 0.0f && style.high > 0.0f)) {
    throw std::invalid_argument("a logarithmic range from " + std::to_string(style.low) + " to " +
                                std::to_string(style.high));
  }
}

using LookupTable = std::array<std::uint8_t, 256 * 4>;

LookupTable tintTable(const Tint& tint) {
  LookupTable entries;
  for (std::size_t i = 0; i < 256; ++i) {
    const float along = static_cast<float>(i) / 255;
    const bool upper = tint.middle && along >= 0.5f;
    const Color& from = upper ? *tint.middle : tint.low;
    const Color& to = tint.middle && !upper ? *tint.middle : tint.high;
    const float t = !tint.middle ? along : upper ? 2 * along - 1 : 2 * along;
    const auto byte = [&](float low, float high) {
      return static_cast<std::uint8_t>(std::lround((low + (high - low) * t) * 255));
    };
    entries[4 * i] = byte(from.r, to.r);
    entries[4 * i + 1] = byte(from.g, to.g);
    entries[4 * i + 2] = byte(from.b, to.b);
    entries[4 * i + 3] = 255;
  }
  return entries;
}

/// On the active unit.
Texture makeLookup(const LookupTable& entries) {
  Texture texture = makeTexture();
  glBindTexture(GL_TEXTURE_2D, texture.id());
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_SKIP_PIXELS, 0);
  glPixelStorei(GL_UNPACK_SKIP_ROWS, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 256, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, entries.data());
  return texture;
}

}  // namespace

struct HeatmapPainter::State {
  State(std::string vertices, std::string fragments)
      : vertexSource(std::move(vertices)), fragmentSource(std::move(fragments)) {
    shader(HeatmapShader::kPlain);
  }

  /// Made when it is first needed: each takes milliseconds, and few are seen at once.
  const HeatmapShader& shader(int features) {
    const auto known = shaders.find(features);
    if (known != shaders.end()) return known->second;
    return shaders.try_emplace(features, vertexSource, fragmentSource, features).first->second;
  }

  const std::string vertexSource, fragmentSource;
  std::map<int, HeatmapShader> shaders;         ///< by their features
  VertexArray vertexArray = makeVertexArray();  ///< empty; the core profile draws only with one bound
  std::array<Texture, kColormaps.size()> colormaps;
  std::vector<std::pair<Tint, Texture>> tints;  ///< as many as a theme has, so few

  /// The 256 × 1 lookup texture for a style, made when first asked for. Works on the active unit.
  GLuint lookupTexture(const HeatmapStyle& style) {
    if (style.tint) return tintTexture(*style.tint);
    Texture& texture = colormaps.at(static_cast<std::size_t>(style.colormap));
    if (!texture) texture = makeLookup(table(style.colormap));
    return texture.id();
  }

  GLuint tintTexture(const Tint& tint) {
    for (const auto& [known, texture] : tints)
      if (known == tint) return texture.id();
    tints.emplace_back(tint, makeLookup(tintTable(tint)));
    return tints.back().second.id();
  }
};

HeatmapPainter::HeatmapPainter(const std::string& vertexSource, const std::string& fragmentSource)
    : state_(std::make_unique<State>(vertexSource, fragmentSource)) {}

HeatmapPainter::~HeatmapPainter() = default;

void HeatmapPainter::draw(const HeatmapTextures& current, const HeatmapTextures* previous, float blend,
                          const HeatmapView& view, const HeatmapStyle& style, int framebufferWidth,
                          int framebufferHeight) {
  checkFits(current, previous, view, style);
  const HeatmapLayout layout(view, current.rows(), current.cols(), framebufferWidth, framebufferHeight);
  if (layout.touched.empty()) return;
  const SavedDrawState saved;
  for (const GLenum off : {GL_BLEND, GL_DEPTH_TEST, GL_STENCIL_TEST, GL_CULL_FACE}) glDisable(off);
  glEnable(GL_SCISSOR_TEST);
  if (layout.cells != layout.touched) {
    setScissor(layout.touched, framebufferHeight);
    glClearColor(style.background.r, style.background.g, style.background.b, 1);
    glClear(GL_COLOR_BUFFER_BIT);
  }
  if (layout.cells.empty()) return;

  const HeatmapMarks marks(style, static_cast<float>(std::min(layout.cellWidth, layout.cellHeight)));
  const bool mixes = previous != nullptr && blend < 1.0f;
  const bool pools =
      !mixes && view.pooling != CellPooling::none && std::min(layout.cellWidth, layout.cellHeight) < 1;
  const int features =
      (style.logarithmic ? HeatmapShader::kLogarithmic : 0) |
      (pools ? HeatmapShader::kPool
             : (mixes ? HeatmapShader::kMixPrevious : 0) | (marks.any() ? HeatmapShader::kMarks : 0));
  const HeatmapShader& shader = state_->shader(features);
  shader.use();
  shader.setValues(style, blend);
  shader.setGeometry(view, layout, current.rows(), current.cols());
  shader.setColors(style, marks, framebufferHeight);

  bindTexture(0, GL_TEXTURE_2D_ARRAY, current.texture());
  if (mixes) bindTexture(1, GL_TEXTURE_2D_ARRAY, previous->texture());
  glActiveTexture(GL_TEXTURE2);
  bindTexture(2, GL_TEXTURE_2D, state_->lookupTexture(style));
  glViewport(0, 0, framebufferWidth, framebufferHeight);
  setScissor(layout.cells, framebufferHeight);
  glBindVertexArray(state_->vertexArray.id());
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

}  // namespace headscope::render
