#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "render/gl_objects.h"
#include "render/heatmap.h"

namespace headscope::render {
namespace {

std::string shapeText(int layers, int rows, int cols) {
  return std::to_string(layers) + " × [" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

void checkLimits(int layers, int rows, int cols) {
  constexpr int kMostLayers = 2048;
  GLint largestSide = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largestSide);
  if (layers > kMostLayers || std::max(rows, cols) > largestSide) {
    throw std::runtime_error("heatmaps of " + shapeText(layers, rows, cols) +
                             " cells are beyond the limits of " + std::to_string(kMostLayers) +
                             " layers and " + std::to_string(largestSide) + " cells a side");
  }
}

/// A binding of a texture to unit 0 until the end of the scope.
class BoundForEdit {
 public:
  explicit BoundForEdit(GLuint id) {
    glGetIntegerv(GL_ACTIVE_TEXTURE, &activeTexture_);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, id);
  }
  ~BoundForEdit() {
    glBindTexture(GL_TEXTURE_2D, 0);
    glActiveTexture(static_cast<GLenum>(activeTexture_));
  }
  BoundForEdit(const BoundForEdit&) = delete;
  BoundForEdit& operator=(const BoundForEdit&) = delete;

 private:
  GLint activeTexture_ = GL_TEXTURE0;
};

/// Creates a layer on unit 0 with undefined contents.
Texture makeLayer(int rows, int cols) {
  Texture texture = makeTexture();
  const BoundForEdit bound(texture.id());
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    glTexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, cols, rows, 0, GL_RED, GL_FLOAT, nullptr);
  return texture;
}

/// Returns a number that is never reused, unlike OpenGL names.
std::uint64_t nextVersion() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

struct HeatmapTextures::State {
  struct Layer {
    Texture texture;
    std::uint64_t version;
    std::vector<float> quiet = {};  ///< the values, if OpenGL keeps none (quiet_gl.h)
  };
  int rows = 0, cols = 0;
  std::vector<Layer> layers;
};

HeatmapTextures::HeatmapTextures() = default;
HeatmapTextures::~HeatmapTextures() = default;
HeatmapTextures::HeatmapTextures(HeatmapTextures&&) noexcept = default;
HeatmapTextures& HeatmapTextures::operator=(HeatmapTextures&&) noexcept = default;

int HeatmapTextures::layers() const {
  return state_ ? static_cast<int>(state_->layers.size()) : 0;
}
int HeatmapTextures::rows() const {
  return state_ ? state_->rows : 0;
}
int HeatmapTextures::cols() const {
  return state_ ? state_->cols : 0;
}
unsigned HeatmapTextures::texture(int layer) const {
  return state_->layers[static_cast<std::size_t>(layer)].texture.id();
}

std::size_t HeatmapTextures::bytes() const {
  return sizeof(float) * static_cast<std::size_t>(layers()) * static_cast<std::size_t>(rows()) *
         static_cast<std::size_t>(cols());
}

std::uint64_t HeatmapTextures::version(int layer) const {
  return layer >= 0 && layer < layers() ? state_->layers[static_cast<std::size_t>(layer)].version : 0;
}

void HeatmapTextures::resize(int layers, int rows, int cols) {
  if (layers < 1 || rows < 1 || cols < 1) {
    throw std::invalid_argument("heatmaps of " + shapeText(layers, rows, cols) + " cells");
  }
  if (layers == this->layers() && rows == this->rows() && cols == this->cols()) return;
  checkLimits(layers, rows, cols);
  auto next = std::make_unique<State>();
  next->rows = rows;
  next->cols = cols;
  if constexpr (kErrorsAreCheap) clearErrors();
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  for (int layer = 0; layer < layers; ++layer) next->layers.push_back({makeLayer(rows, cols), nextVersion()});
  if (const GLenum error = kErrorsAreCheap ? glGetError() : GL_NO_ERROR; error != GL_NO_ERROR) {
    throw std::runtime_error("no graphics memory for heatmaps of " + shapeText(layers, rows, cols) +
                             " cells (OpenGL error " + std::to_string(error) + ")");
  }
  state_ = std::move(next);
}

void HeatmapTextures::upload(int layer, const float* values) {
  if (layer < 0 || layer >= layers()) {
    throw std::invalid_argument("heatmap layer " + std::to_string(layer) + " of " + std::to_string(layers()));
  }
  State::Layer& to = state_->layers[static_cast<std::size_t>(layer)];
  const BoundForEdit bound(to.texture.id());
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  for (const GLenum layout : {GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS})
    glPixelStorei(layout, 0);
  to.version = nextVersion();
  if (quietGl) to.quiet.assign(values, values + static_cast<std::ptrdiff_t>(rows()) * cols());
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, cols(), rows(), GL_RED, GL_FLOAT, values);
}

std::vector<float> HeatmapTextures::read() const {
  std::vector<float> values(bytes() / sizeof(float));
  if (values.empty()) return values;
  if (quietGl) {
    auto to = values.begin();
    for (const State::Layer& layer : state_->layers) {
      std::copy(layer.quiet.begin(), layer.quiet.end(), to);
      to += static_cast<std::ptrdiff_t>(rows()) * cols();
    }
    return values;
  }
  GLint before = 0;
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &before);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  for (const GLenum layout : {GL_PACK_ROW_LENGTH, GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS})
    glPixelStorei(layout, 0);
  // Reads layer by layer: OpenGL ES can read textures only through framebuffers.
  const Framebuffer framebuffer = makeFramebuffer();
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer.id());
  const auto cells = values.size() / static_cast<std::size_t>(layers());
  for (int layer = 0; layer < layers(); ++layer) {
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture(layer), 0);
    glReadPixels(0, 0, cols(), rows(), GL_RED, GL_FLOAT,
                 values.data() + cells * static_cast<std::size_t>(layer));
  }
  glBindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(before));
  return values;
}

}  // namespace headscope::render
