#include "render/magnify.h"

#include "tests/render/heatmap_fixture.h"

namespace headscope::test {
namespace {

/// Draws the left half black and the right half white, 8 × 8.
void drawHalves() {
  glDisable(GL_SCISSOR_TEST);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glEnable(GL_SCISSOR_TEST);
  glScissor(4, 0, 4, 8);
  glClearColor(1, 1, 1, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

TEST(Magnifier, EnlargesAboutAPointAndInterpolates) {
  render::HeadlessContext context(8, 8);
  const render::Magnifier magnifier(shaderSource("heatmap.vert"), shaderSource("magnify.frag"));
  drawHalves();
  magnifier.draw(8, 8, 4, 4, 2);
  const auto middle = context.read();
  EXPECT_EQ(pixelAt(middle, 0, 3), (Pixel{0, 0, 0, 255}));
  EXPECT_EQ(pixelAt(middle, 2, 3), (Pixel{0, 0, 0, 255}));
  EXPECT_EQ(pixelAt(middle, 3, 3)[0], 64) << "a quarter of the way from black to white";
  EXPECT_EQ(pixelAt(middle, 4, 3)[0], 191);
  EXPECT_EQ(pixelAt(middle, 7, 7), (Pixel{255, 255, 255, 255}));
  EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
  EXPECT_TRUE(glIsEnabled(GL_SCISSOR_TEST)) << "as it was before";
}

TEST(Magnifier, StaysInsideThePicture) {
  render::HeadlessContext context(8, 8);
  const render::Magnifier magnifier(shaderSource("heatmap.vert"), shaderSource("magnify.frag"));
  for (const auto& [x, colour] : {std::pair(-100.0f, 0), std::pair(0.0f, 0), std::pair(100.0f, 255)}) {
    drawHalves();
    magnifier.draw(8, 8, x, -50, 4);
    const auto image = context.read();
    EXPECT_EQ(pixelAt(image, 0, 0)[0], colour) << x;
    EXPECT_EQ(pixelAt(image, 7, 7)[0], colour) << x;
  }
  drawHalves();
  magnifier.draw(8, 8, 4, 4, 1);
  EXPECT_EQ(pixelAt(context.read(), 3, 3)[0], 0) << "a factor of 1 changes nothing";
}

}  // namespace
}  // namespace headscope::test
