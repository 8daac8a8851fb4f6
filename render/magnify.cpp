#include "render/magnify.h"

#include <algorithm>

namespace headscope::render {

Magnifier::Magnifier(const std::string& vertexSource, const std::string& fragmentSource)
    : program_(makeProgram("magnifier", vertexSource, fragmentSource)), array_(makeVertexArray()) {}

void Magnifier::draw(int width, int height, float x, float y, float factor) const {
  if (!(factor > 1) || width <= 0 || height <= 0) return;
  const auto first = [factor](float at, int whole) {  // start of the visible part
    const auto all = static_cast<float>(whole);
    return std::clamp(at - at / factor, 0.0f, all - all / factor);
  };
  const SavedDrawState saved;
  GLint target = 0;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &target);
  glActiveTexture(GL_TEXTURE0);
  const Texture picture = makeTexture();
  glBindTexture(GL_TEXTURE_2D, picture.id());
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(target));
  glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 0, 0, width, height, 0);
  for (const GLenum off : {GL_BLEND, GL_SCISSOR_TEST, GL_DEPTH_TEST, GL_STENCIL_TEST, GL_CULL_FACE})
    glDisable(off);
  glViewport(0, 0, width, height);
  glUseProgram(program_.id());
  glUniform2f(glGetUniformLocation(program_.id(), "first"), first(x, width),
              first(static_cast<float>(height) - y, height));
  glUniform1f(glGetUniformLocation(program_.id(), "stride"), 1 / factor);
  glBindVertexArray(array_.id());
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

}  // namespace headscope::render
