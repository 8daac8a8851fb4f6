#include "render/magnify.h"

#include <cmath>

#include "render/gl.h"

namespace headscope::render {

void magnify(int width, int height, float x, float y, float factor) {
  if (!(factor > 1) || width <= 0 || height <= 0) return;
  const auto w = static_cast<float>(width), h = static_cast<float>(height), up = h - y;
  const auto part = [factor](float at, float whole) {  // of the picture that is seen, from its low end
    const float seen = whole / factor, from = at - at / factor;
    return static_cast<GLint>(std::round(std::fmin(std::fmax(from, 0.0f), whole - seen)));
  };
  const GLint left = part(x, w), bottom = part(up, h), right = left + static_cast<GLint>(w / factor),
              top = bottom + static_cast<GLint>(h / factor);
  GLint target = 0;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &target);
  GLuint copy = 0, picture = 0;
  glGenFramebuffers(1, &copy);
  glGenRenderbuffers(1, &picture);
  glBindRenderbuffer(GL_RENDERBUFFER, picture);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glDisable(GL_SCISSOR_TEST);
  // A picture can't be copied onto itself where the two parts overlap.
  glBindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(target));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, copy);
  glFramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, picture);
  glBlitFramebuffer(left, bottom, right, top, left, bottom, right, top, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, copy);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(target));
  glBlitFramebuffer(left, bottom, right, top, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_LINEAR);
  glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(target));
  glDeleteFramebuffers(1, &copy);
  glDeleteRenderbuffers(1, &picture);
}

}  // namespace headscope::render
