#include "render/headless.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "render/gl_objects.h"
#include "render/offscreen_context.h"
#include "render/quiet_gl.h"

namespace headscope::render {

struct HeadlessContext::State {
  std::optional<OffscreenContext>
      context;  ///< first member: outlives the objects in it; none: nothing is drawn
  int width = 0, height = 0;
  Framebuffer framebuffer;
  Renderbuffer color;

  explicit State(bool mayBeQuiet) {
    try {
      context.emplace();
    } catch (const std::runtime_error&) {
      if (!mayBeQuiet) throw;
      silenceOpenGl();
    }
    framebuffer = makeFramebuffer();
  }
  // The objects below belong to this context, so it must be current when they are deleted.
  ~State() { makeCurrent(); }
  void makeCurrent() const {
    if (context) context->makeCurrent();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

HeadlessContext::HeadlessContext(int width, int height, bool mayBeQuiet)
    : state_(std::make_unique<State>(mayBeQuiet)) {
  resize(width, height);
}

bool HeadlessContext::draws() const {
  return state_->context.has_value();
}

HeadlessContext::~HeadlessContext() = default;

void HeadlessContext::resize(int width, int height) {
  const std::string size = std::to_string(width) + " × " + std::to_string(height);
  if (width < 1 || height < 1) throw std::invalid_argument("a framebuffer of " + size + " pixels");
  State& state = *state_;
  if (state.width == width && state.height == height) {
    bind();
    return;
  }
  state.makeCurrent();
  GLint largest = 0, viewport[2] = {};
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  glGetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
  largest = std::min({largest, viewport[0], viewport[1]});
  if (width > largest || height > largest) {
    throw std::runtime_error("a framebuffer of " + size + " pixels is beyond this device's limit of " +
                             std::to_string(largest) + " a side");
  }
  clearErrors();
  Renderbuffer color = makeRenderbuffer();
  glBindRenderbuffer(GL_RENDERBUFFER, color.id());
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, state.framebuffer.id());
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color.id());
  const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  if (glGetError() != GL_NO_ERROR || status != GL_FRAMEBUFFER_COMPLETE) {
    // Keep using the old renderbuffer.
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, state.color.id());
    throw std::runtime_error("cannot make a framebuffer of " + size + " RGBA pixels (status " +
                             std::to_string(status) + ")");
  }
  state.color = std::move(color);
  state.width = width;
  state.height = height;
  bind();
}

void HeadlessContext::bind() {
  state_->makeCurrent();
  glBindFramebuffer(GL_FRAMEBUFFER, state_->framebuffer.id());
  glViewport(0, 0, state_->width, state_->height);
}

void HeadlessContext::finish() {
  state_->makeCurrent();
  glFinish();
}

Image HeadlessContext::read() const {
  const State& state = *state_;
  state.makeCurrent();
  GLint previous = 0;
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &previous);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, state.framebuffer.id());
  Image image = imageFromBottom(state.width, state.height, readPixels(state.width, state.height));
  glBindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(previous));
  return image;
}

}  // namespace headscope::render
