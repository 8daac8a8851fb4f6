#include "render/picture.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "render/gl_objects.h"

namespace headscope::render {

struct Picture::Objects {
  Framebuffer framebuffer = makeFramebuffer();
  Texture color = makeTexture();
};

Picture::Picture() = default;
Picture::~Picture() = default;
Picture::Picture(Picture&& other) noexcept
    : width_(std::exchange(other.width_, 0)),
      height_(std::exchange(other.height_, 0)),
      objects_(std::move(other.objects_)) {}

Picture& Picture::operator=(Picture&& other) noexcept {
  width_ = std::exchange(other.width_, 0);
  height_ = std::exchange(other.height_, 0);
  objects_ = std::move(other.objects_);
  return *this;
}

unsigned Picture::texture() const {
  return objects_ ? objects_->color.id() : 0;
}

Picture::Picture(int width, int height)
    : width_(width), height_(height), objects_(std::make_unique<Objects>()) {
  GLint before = 0, texture = 0;
  glGetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &texture);
  glBindTexture(GL_TEXTURE_2D, objects_->color.id());
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(texture));
  glBindFramebuffer(GL_FRAMEBUFFER, objects_->framebuffer.id());
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, objects_->color.id(), 0);
  const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(before));
  if (status == GL_FRAMEBUFFER_COMPLETE) return;
  clearErrors();
  throw std::runtime_error("cannot make a picture of " + std::to_string(width) + " × " +
                           std::to_string(height) + " pixels (status " + std::to_string(status) + ")");
}

Picture::Bound::Bound(const Picture& picture) {
  glGetIntegerv(GL_FRAMEBUFFER_BINDING, &before_);
  glBindFramebuffer(GL_FRAMEBUFFER, picture.objects_->framebuffer.id());
  glViewport(0, 0, picture.width_, picture.height_);
}

Picture::Bound::~Bound() {
  glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(before_));
}

void Picture::copyBound(int width, int height) {
  if (width != width_ || height != height_) return shrinkBound(width, height);
  GLint before = 0;
  glGetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
  glDisable(GL_SCISSOR_TEST);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, objects_->framebuffer.id());
  glBlitFramebuffer(0, 0, width, height, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(before));
}

void Picture::copyToBound() const {
  GLint before = 0;
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &before);
  glDisable(GL_SCISSOR_TEST);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, objects_->framebuffer.id());
  glBlitFramebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(before));
}

/// Runs on the CPU: Mesa's rasteriser crashes when it blits with a filter on 512-bit vectors.
void Picture::shrinkBound(int width, int height) {
  constexpr std::size_t kChannels = 4;
  const std::vector<std::uint8_t> from = readPixels(width, height);
  std::vector<std::uint8_t> to;
  to.reserve(kChannels * static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
  const auto part = [](int at, int of, int whole) { return static_cast<int>(std::int64_t{at} * whole / of); };
  for (int y = 0; y < height_; ++y) {
    const int top = part(y, height_, height), bottom = std::max(part(y + 1, height_, height), top + 1);
    for (int x = 0; x < width_; ++x) {
      const int left = part(x, width_, width), right = std::max(part(x + 1, width_, width), left + 1);
      for (std::size_t channel = 0; channel < kChannels; ++channel) {
        int sum = 0;
        for (int row = top; row < bottom; ++row)
          for (int column = left; column < right; ++column)
            sum += from[kChannels * (static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                                     static_cast<std::size_t>(column)) +
                        channel];
        const int count = (bottom - top) * (right - left);
        to.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
      }
    }
  }
  GLint texture = 0;
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &texture);
  glBindTexture(GL_TEXTURE_2D, objects_->color.id());
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, to.data());
  glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(texture));
}

Image Picture::read() const {
  const Bound bound(*this);
  return imageFromBottom(width_, height_, readPixels(width_, height_));
}

}  // namespace headscope::render
