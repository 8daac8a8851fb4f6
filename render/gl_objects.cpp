#include "render/gl_objects.h"

#include <stdexcept>
#include <string_view>

namespace headscope::render {
namespace {

std::string_view versionLines() {
  if (isDesktopGl()) return "#version 330 core\n";
  return "#version 300 es\n"
         "precision highp float;\n"
         "precision highp int;\n"
         "precision highp sampler2D;\n"
         "precision highp sampler2DArray;\n";
}

template <typename Get, typename GetLog>
std::string readLog(GLuint id, Get get, GetLog getLog) {
  GLint length = 0;
  get(id, GL_INFO_LOG_LENGTH, &length);
  if (length <= 1) return "no log";
  std::string log(static_cast<std::size_t>(length), '\0');
  getLog(id, length, nullptr, log.data());
  log.resize(log.find_last_not_of(std::string_view("\0\n ", 3)) + 1);
  return log;
}

Shader makeShader(GLenum kind, const std::string& name, const std::string& source,
                  const std::string& defines) {
  Shader shader(glCreateShader(kind));
  // "#line 1" makes line numbers in the log match the file.
  const std::string text = std::string(versionLines()) + defines + "#line 1\n" + source;
  const char* pointer = text.c_str();
  glShaderSource(shader.id(), 1, &pointer, nullptr);
  glCompileShader(shader.id());
  GLint compiled = GL_FALSE;
  glGetShaderiv(shader.id(), GL_COMPILE_STATUS, &compiled);
  if (compiled != GL_TRUE) {
    const char* stage = kind == GL_VERTEX_SHADER ? "vertex" : "fragment";
    throw std::runtime_error("the " + name + " " + stage + " shader does not compile: " +
                             readLog(
                                 shader.id(), [](auto... a) { glGetShaderiv(a...); },
                                 [](auto... a) { glGetShaderInfoLog(a...); }));
  }
  return shader;
}

template <typename Generate>
GLuint generate(Generate function) {
  GLuint id = 0;
  function(1, &id);
  return id;
}

}  // namespace

Texture makeTexture() {
  return Texture(generate(glGenTextures));
}
VertexArray makeVertexArray() {
  return VertexArray(generate(glGenVertexArrays));
}
Framebuffer makeFramebuffer() {
  return Framebuffer(generate(glGenFramebuffers));
}
Renderbuffer makeRenderbuffer() {
  return Renderbuffer(generate(glGenRenderbuffers));
}

Program makeProgram(const std::string& name, const std::string& vertexSource,
                    const std::string& fragmentSource, const std::string& defines) {
  const Shader vertex = makeShader(GL_VERTEX_SHADER, name, vertexSource, defines);
  const Shader fragment = makeShader(GL_FRAGMENT_SHADER, name, fragmentSource, defines);
  Program program(glCreateProgram());
  glAttachShader(program.id(), vertex.id());
  glAttachShader(program.id(), fragment.id());
  glLinkProgram(program.id());
  glDetachShader(program.id(), vertex.id());
  glDetachShader(program.id(), fragment.id());
  GLint linked = GL_FALSE;
  glGetProgramiv(program.id(), GL_LINK_STATUS, &linked);
  if (linked != GL_TRUE) {
    throw std::runtime_error("the " + name + " shaders do not link: " +
                             readLog(
                                 program.id(), [](auto... a) { glGetProgramiv(a...); },
                                 [](auto... a) { glGetProgramInfoLog(a...); }));
  }
  return program;
}

std::vector<std::uint8_t> readPixels(int width, int height) {
  if (quietGl) throw std::runtime_error("this picture needs OpenGL, which this system lacks");
  std::vector<std::uint8_t> pixels(std::size_t{4} * static_cast<std::size_t>(width) *
                                   static_cast<std::size_t>(height));
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glPixelStorei(GL_PACK_ROW_LENGTH, 0);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  return pixels;
}

void clearErrors() {
  // A lost context reports an error forever, so the loop is bounded.
  for (int i = 0; i < 64 && glGetError() != GL_NO_ERROR; ++i) {
  }
}

SavedDrawState::SavedDrawState() {
  for (std::size_t i = 0; i < std::size(kSwitches); ++i) {
    enabled_[i] = glIsEnabled(kSwitches[i]) == GL_TRUE;
  }
  glGetIntegerv(GL_SCISSOR_BOX, scissor_);
  glGetIntegerv(GL_VIEWPORT, viewport_);
  glGetFloatv(GL_COLOR_CLEAR_VALUE, clearColor_);
  glGetIntegerv(GL_ACTIVE_TEXTURE, &activeTexture_);
}

SavedDrawState::~SavedDrawState() {
  for (std::size_t i = 0; i < std::size(kSwitches); ++i) {
    if (enabled_[i]) {
      glEnable(kSwitches[i]);
    } else {
      glDisable(kSwitches[i]);
    }
  }
  glScissor(scissor_[0], scissor_[1], scissor_[2], scissor_[3]);
  glViewport(viewport_[0], viewport_[1], viewport_[2], viewport_[3]);
  glClearColor(clearColor_[0], clearColor_[1], clearColor_[2], clearColor_[3]);
  glActiveTexture(static_cast<GLenum>(activeTexture_));
}

}  // namespace headscope::render
