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
  GLint largestSide = 0, mostLayers = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largestSide);
  glGetIntegerv(GL_MAX_ARRAY_TEXTURE_LAYERS, &mostLayers);
  if (layers > mostLayers || std::max(rows, cols) > largestSide) {
    throw std::runtime_error("heatmaps of " + shapeText(layers, rows, cols) +
                             " cells are beyond this device's limits of " + std::to_string(mostLayers) +
                             " layers and " + std::to_string(largestSide) + " cells a side");
  }
}

/// Binds a texture array to unit 0 for the length of a scope.
class BoundForEdit {
 public:
  explicit BoundForEdit(GLuint id) {
    glGetIntegerv(GL_ACTIVE_TEXTURE, &activeTexture_);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D_ARRAY, id);
  }
  ~BoundForEdit() {
    glBindTexture(GL_TEXTURE_2D_ARRAY, 0);
    glActiveTexture(static_cast<GLenum>(activeTexture_));
  }
  BoundForEdit(const BoundForEdit&) = delete;
  BoundForEdit& operator=(const BoundForEdit&) = delete;

 private:
  GLint activeTexture_ = GL_TEXTURE0;
};

/// OpenGL gives names anew, so that they don't tell textures apart.
std::uint64_t nextVersion() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

struct HeatmapTextures::State {
  Texture texture;
  int layers = 0, rows = 0, cols = 0;
  std::vector<std::uint64_t> versions;  ///< by layer
};

HeatmapTextures::HeatmapTextures() = default;
HeatmapTextures::~HeatmapTextures() = default;
HeatmapTextures::HeatmapTextures(HeatmapTextures&&) noexcept = default;
HeatmapTextures& HeatmapTextures::operator=(HeatmapTextures&&) noexcept = default;

int HeatmapTextures::layers() const {
  return state_ ? state_->layers : 0;
}
int HeatmapTextures::rows() const {
  return state_ ? state_->rows : 0;
}
int HeatmapTextures::cols() const {
  return state_ ? state_->cols : 0;
}
unsigned HeatmapTextures::texture() const {
  return state_ ? state_->texture.id() : 0;
}

std::size_t HeatmapTextures::bytes() const {
  return sizeof(float) * static_cast<std::size_t>(layers()) * static_cast<std::size_t>(rows()) *
         static_cast<std::size_t>(cols());
}

std::uint64_t HeatmapTextures::version(int layer) const {
  return state_ && layer >= 0 && layer < state_->layers ? state_->versions[static_cast<std::size_t>(layer)]
                                                        : 0;
}

void HeatmapTextures::resize(int layers, int rows, int cols) {
  if (layers < 1 || rows < 1 || cols < 1) {
    throw std::invalid_argument("heatmaps of " + shapeText(layers, rows, cols) + " cells");
  }
  if (layers == this->layers() && rows == this->rows() && cols == this->cols()) return;
  checkLimits(layers, rows, cols);
  auto next = std::make_unique<State>();
  *next = State{makeTexture(), layers, rows, cols,
                std::vector<std::uint64_t>(static_cast<std::size_t>(layers), nextVersion())};
  const BoundForEdit bound(next->texture.id());
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER}) {
    glTexParameteri(GL_TEXTURE_2D_ARRAY, filter, GL_NEAREST);
  }
  for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T}) {
    glTexParameteri(GL_TEXTURE_2D_ARRAY, wrap, GL_CLAMP_TO_EDGE);
  }
  glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAX_LEVEL, 0);
  clearErrors();
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_R32F, cols, rows, layers, 0, GL_RED, GL_FLOAT, nullptr);
  if (const GLenum error = glGetError(); error != GL_NO_ERROR) {
    throw std::runtime_error("no graphics memory for heatmaps of " + shapeText(layers, rows, cols) +
                             " cells (OpenGL error " + std::to_string(error) + ")");
  }
  state_ = std::move(next);
}

void HeatmapTextures::upload(int layer, const float* values) {
  if (layer < 0 || layer >= layers()) {
    throw std::invalid_argument("heatmap layer " + std::to_string(layer) + " of " + std::to_string(layers()));
  }
  const BoundForEdit bound(state_->texture.id());
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  for (const GLenum layout : {GL_UNPACK_ROW_LENGTH, GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_SKIP_PIXELS,
                              GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_IMAGES}) {
    glPixelStorei(layout, 0);
  }
  state_->versions[static_cast<std::size_t>(layer)] = nextVersion();
  glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, layer, cols(), rows(), 1, GL_RED, GL_FLOAT, values);
}

std::vector<float> HeatmapTextures::read() const {
  std::vector<float> values(bytes() / sizeof(float));
  if (values.empty()) return values;
  GLint before = 0;
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &before);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  for (const GLenum layout : {GL_PACK_ROW_LENGTH, GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS})
    glPixelStorei(layout, 0);
  // Layer by layer, as OpenGL ES reads textures through framebuffers alone.
  const Framebuffer framebuffer = makeFramebuffer();
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer.id());
  const auto cells = values.size() / static_cast<std::size_t>(layers());
  for (int layer = 0; layer < layers(); ++layer) {
    glFramebufferTextureLayer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, state_->texture.id(), 0, layer);
    glReadPixels(0, 0, cols(), rows(), GL_RED, GL_FLOAT,
                 values.data() + cells * static_cast<std::size_t>(layer));
  }
  glBindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(before));
  return values;
}

}  // namespace headscope::render
