#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>

#include "render/gl_objects.h"
#include "render/heatmap.h"
#include "render/heatmap_layout.h"
#include "render/heatmap_lookup.h"
#include "render/heatmap_shader.h"

namespace headscope::render {
namespace {

void setScissor(const PixelBox& box, int framebufferHeight) {
  glScissor(box.x0, framebufferHeight - box.y1, box.x1 - box.x0, box.y1 - box.y0);
}

void bindTexture(int unit, GLuint id) {
  glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
  glBindTexture(GL_TEXTURE_2D, id);
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
  // Far beyond any matrix, and floats up to here hold whole numbers exactly.
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

/// Creates the texture on the active unit.
Texture makeLookup(const HeatmapLookup& lookup) {
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
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, lookup.columns(), lookup.rows(), 0, GL_RGBA, GL_UNSIGNED_BYTE,
               lookup.texels().data());
  return texture;
}

}  // namespace

struct HeatmapPainter::State {
  State(std::string vertices, std::string fragments)
      : vertexSource(std::move(vertices)), fragmentSource(std::move(fragments)) {
    shader(HeatmapShader::kPlain);
  }

  /// Returns a variant, compiled on first use: each takes milliseconds, and only a few occur together.
  const HeatmapShader& shader(int features) {
    const auto known = shaders.find(features);
    if (known != shaders.end()) return known->second;
    return shaders.try_emplace(features, vertexSource, fragmentSource, features).first->second;
  }

  const std::string vertexSource, fragmentSource;
  std::map<int, HeatmapShader> shaders;         ///< by HeatmapShader::Feature bits
  VertexArray vertexArray = makeVertexArray();  ///< empty; the core profile draws only with one bound
  std::vector<std::pair<HeatmapLookup, Texture>> lookups;

  /// Returns a lookup texture, created on first use. Binds on the active unit.
  GLuint lookupTexture(const HeatmapLookup& lookup) {
    constexpr std::size_t kMaxLookups = 64;  // a theme needs only a few
    for (const auto& [known, texture] : lookups)
      if (known == lookup) return texture.id();
    if (lookups.size() == kMaxLookups) lookups.clear();
    lookups.emplace_back(lookup, makeLookup(lookup));
    return lookups.back().second.id();
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

  const auto smallestCell = static_cast<float>(std::min(layout.cellWidth, layout.cellHeight));
  const HeatmapGap gap(style, smallestCell);
  const HeatmapLookup lookup(style, smallestCell);
  const bool mixes = previous != nullptr && blend < 1.0f;
  const bool pools = !mixes && view.pooling != CellPooling::none && smallestCell < 1;
  const bool marked = gap.strength > 0 || lookup.period() > 1;
  const int features =
      (style.logarithmic ? HeatmapShader::kLogarithmic : 0) |
      (view.litRows < current.rows() ? HeatmapShader::kFade : 0) |
      (pools ? HeatmapShader::kPool | (view.pooling == CellPooling::mean ? HeatmapShader::kMean : 0)
             : (mixes ? HeatmapShader::kMixPrevious : 0) | (marked ? HeatmapShader::kMarks : 0));
  const HeatmapShader& shader = state_->shader(features);
  shader.use();
  shader.setValues(style, blend);
  shader.setGeometry(view, layout, current.rows(), current.cols());
  shader.setMarks(style.background, gap, lookup.period(), framebufferHeight);

  bindTexture(0, current.texture(view.layer));
  if (mixes) bindTexture(1, previous->texture(view.layer));
  glActiveTexture(GL_TEXTURE2);
  bindTexture(2, state_->lookupTexture(lookup));
  glViewport(0, 0, framebufferWidth, framebufferHeight);
  setScissor(layout.cells, framebufferHeight);
  glBindVertexArray(state_->vertexArray.id());
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

}  // namespace headscope::render
