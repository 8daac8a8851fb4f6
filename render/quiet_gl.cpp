#include "render/quiet_gl.h"

#include <initializer_list>

#include "render/gl.h"

namespace headscope::render {
namespace {

// libepoxy's functions are pointers, which it replaces itself when they are first called.
template <class Returned, class... Arguments>
void silence(Returned (*&function)(Arguments...)) {
  function = [](Arguments...) -> Returned { return Returned(); };
}

template <class... Functions>
void silenceAll(Functions&... functions) {
  (silence(functions), ...);
}

void number(void (*&generate)(GLsizei, GLuint*)) {
  generate = [](GLsizei count, GLuint* ids) {
    static GLuint last = 0;
    for (GLsizei i = 0; i < count; ++i) ids[i] = ++last;
  };
}

/// Limits are 16,384; nothing is bound or switched on.
void answer(GLenum name, GLint* value) {
  constexpr GLint kLimit = 16384;
  for (const GLenum limit : {GL_MAX_TEXTURE_SIZE, GL_MAX_ARRAY_TEXTURE_LAYERS, GL_MAX_3D_TEXTURE_SIZE,
                             GL_MAX_RENDERBUFFER_SIZE, GL_MAX_VIEWPORT_DIMS})
    if (name == limit) *value = kLimit;
  if (name == GL_MAX_VIEWPORT_DIMS) value[1] = kLimit;
}

}  // namespace

void silenceOpenGl() {
  quietGl = true;
  silenceAll(glActiveTexture, glAttachShader, glBindBuffer, glBindFramebuffer, glBindRenderbuffer,
             glBindSampler, glBindTexture, glBindVertexArray, glBlitFramebuffer, glClear, glClearColor,
             glCompileShader, glCopyTexImage2D, glDeleteFramebuffers, glDeleteProgram, glDeleteRenderbuffers,
             glDeleteShader, glDeleteTextures, glDeleteVertexArrays, glDetachShader, glDisable, glDrawArrays,
             glEnable, glFinish, glFramebufferRenderbuffer, glFramebufferTexture2D, glGetError, glGetFloatv,
             glGetProgramInfoLog, glGetShaderInfoLog, glGetUniformLocation, glIsEnabled, glLinkProgram,
             glPixelStorei, glReadPixels, glRenderbufferStorage, glScissor, glShaderSource, glTexImage2D,
             glTexParameteri, glTexSubImage2D, glUniform1f, glUniform1i, glUniform2f, glUniform2i,
             glUniform3f, glUniform4f, glUseProgram, glViewport);
  for (auto* generate : {&glGenFramebuffers, &glGenRenderbuffers, &glGenTextures, &glGenVertexArrays})
    number(*generate);
  glGetIntegerv = answer;
  glCreateProgram = [] { return GLuint{1}; };
  glCreateShader = [](GLenum) { return GLuint{1}; };
  glGetShaderiv = [](GLuint, GLenum, GLint* value) { *value = GL_TRUE; };
  glGetProgramiv = glGetShaderiv;
  glCheckFramebufferStatus = [](GLenum) { return GLenum{GL_FRAMEBUFFER_COMPLETE}; };
  glGetString = [](GLenum) { return reinterpret_cast<const GLubyte*>(""); };
}

}  // namespace headscope::render
