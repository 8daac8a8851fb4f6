#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "render/gl.h"

namespace headscope::render {

/// Owns one OpenGL object name; 0 if empty. Move-only. Its context must be current when it is destroyed.
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

/// Compiles and links a program. The sources must not have a #version line: the right one for the current
/// context (330 core or 300 es) is prepended. `name` appears in messages; `defines` holds whole "#define …"
/// lines. Throws std::runtime_error with the compiler's or linker's log.
Program makeProgram(const std::string& name, const std::string& vertexSource,
                    const std::string& fragmentSource, const std::string& defines = {});

/// Reads width × height RGBA pixels from the lower left corner of the framebuffer bound for reading, bottom
/// row first.
std::vector<std::uint8_t> readPixels(int width, int height);

/// Discards errors from earlier calls, so that the next glGetError reports only ours.
void clearErrors();

/// The state that drawing an opaque rectangle changes, saved and restored at the end of the scope.
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
