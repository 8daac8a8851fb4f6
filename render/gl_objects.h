#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "render/gl.h"

namespace headscope::render {

/// Owns one OpenGL name; 0 when empty. Move-only. The context that made it must be current when it goes.
template <void (*release)(GLuint)>
class GlObject {
 public:
  GlObject() = default;
  explicit GlObject(GLuint id) : id_(id) {}
  ~GlObject() { reset(); }
  GlObject(GlObject&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  GlObject& operator=(GlObject&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, 0);
    }
    return *this;
  }

  GLuint id() const { return id_; }
  explicit operator bool() const { return id_ != 0; }
  void reset() {
    if (id_ != 0) release(id_);
    id_ = 0;
  }

 private:
  GLuint id_ = 0;
};

inline void releaseTexture(GLuint id) {
  glDeleteTextures(1, &id);
}
inline void releaseVertexArray(GLuint id) {
  glDeleteVertexArrays(1, &id);
}
inline void releaseFramebuffer(GLuint id) {
  glDeleteFramebuffers(1, &id);
}
inline void releaseRenderbuffer(GLuint id) {
  glDeleteRenderbuffers(1, &id);
}
inline void releaseShader(GLuint id) {
  glDeleteShader(id);
}
inline void releaseProgram(GLuint id) {
  glDeleteProgram(id);
}

using Texture = GlObject<releaseTexture>;
using VertexArray = GlObject<releaseVertexArray>;
using Framebuffer = GlObject<releaseFramebuffer>;
using Renderbuffer = GlObject<releaseRenderbuffer>;
using Shader = GlObject<releaseShader>;
using Program = GlObject<releaseProgram>;

Texture makeTexture();
VertexArray makeVertexArray();
Framebuffer makeFramebuffer();
Renderbuffer makeRenderbuffer();

/// Compiles and links. The sources carry no #version line: the one that suits the current context (330
/// core or 300 es) is put in front. `name` is for messages, `defines` are whole "#define …" lines.
/// Throws std::runtime_error with the compiler's or linker's log.
Program makeProgram(const std::string& name, const std::string& vertexSource,
                    const std::string& fragmentSource, const std::string& defines = {});

/// Pixels of the framebuffer that is bound for reading, width × height from its lower left corner, RGBA, the
/// lowest row first.
std::vector<std::uint8_t> readPixels(int width, int height);

/// Forgets errors that earlier calls left behind, so that the next glGetError speaks of our own.
void clearErrors();

/// Saves what drawing a rectangle of opaque pixels changes, and restores it at the end of the scope.
class SavedDrawState {
 public:
  SavedDrawState();
  ~SavedDrawState();
  SavedDrawState(const SavedDrawState&) = delete;
  SavedDrawState& operator=(const SavedDrawState&) = delete;

 private:
  static constexpr GLenum kSwitches[] = {GL_BLEND, GL_SCISSOR_TEST, GL_DEPTH_TEST, GL_STENCIL_TEST,
                                         GL_CULL_FACE};
  bool enabled_[std::size(kSwitches)];
  GLint scissor_[4];
  GLint viewport_[4];
  GLfloat clearColor_[4];
  GLint activeTexture_;
};

}  // namespace headscope::render
