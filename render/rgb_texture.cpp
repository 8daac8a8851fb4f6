#include "render/rgb_texture.h"

#include <stdexcept>
#include <utility>

#include "render/gl_objects.h"

namespace headscope::render {

struct RgbTexture::Objects {
  Texture texture = makeTexture();
};

RgbTexture::RgbTexture() = default;
RgbTexture::~RgbTexture() = default;
RgbTexture::RgbTexture(RgbTexture&& other) noexcept
    : objects_(std::move(other.objects_)),
      width_(std::exchange(other.width_, 0)),
      height_(std::exchange(other.height_, 0)) {}
RgbTexture& RgbTexture::operator=(RgbTexture&& other) noexcept {
  objects_ = std::move(other.objects_);
  width_ = std::exchange(other.width_, 0);
  height_ = std::exchange(other.height_, 0);
  return *this;
}

unsigned RgbTexture::texture() const {
  return objects_ ? objects_->texture.id() : 0;
}

void RgbTexture::reset() {
  objects_.reset();
  width_ = height_ = 0;
}

void RgbTexture::set(int width, int height, std::span<const std::uint8_t> rgb) {
  if (rgb.size() != std::size_t{3} * static_cast<unsigned>(width) * static_cast<unsigned>(height))
    throw std::invalid_argument("a texture of " + std::to_string(width) + " × " + std::to_string(height) +
                                " pixels from " + std::to_string(rgb.size()) + " bytes");
  if (!objects_) objects_ = std::make_unique<Objects>();
  width_ = static_cast<unsigned>(width);
  height_ = static_cast<unsigned>(height);
  GLint before = 0, unpacked = 0;
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
  glGetIntegerv(GL_UNPACK_ALIGNMENT, &unpacked);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glBindTexture(GL_TEXTURE_2D, objects_->texture.id());
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, width, height, 0, GL_RGB, GL_UNSIGNED_BYTE, rgb.data());
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
  for (const GLenum edge : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    glTexParameteri(GL_TEXTURE_2D, edge, GL_CLAMP_TO_EDGE);
  glPixelStorei(GL_UNPACK_ALIGNMENT, unpacked);
  glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(before));
}

}  // namespace headscope::render
