#include "render/headless.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "tests/render/heatmap_fixture.h"

namespace headscope::test {
namespace {

using render::HeadlessContext;

void clearTo(float r, float g, float b) {
  glClearColor(r, g, b, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

TEST(Headless, WorksWithoutAWindowSystem) {
  unsetenv("DISPLAY");
  unsetenv("WAYLAND_DISPLAY");
  unsetenv("XDG_RUNTIME_DIR");
  const HeadlessContext context(8, 8);
  EXPECT_GE(epoxy_gl_version(), 33);
  GLint profile = 0;
  glGetIntegerv(GL_CONTEXT_PROFILE_MASK, &profile);
  EXPECT_EQ(profile, GL_CONTEXT_CORE_PROFILE_BIT);
}

TEST(Headless, ReadsTheTopRowFirst) {
  HeadlessContext context(5, 4);
  clearTo(0, 0, 1);
  glEnable(GL_SCISSOR_TEST);
  glScissor(0, 3, 2, 1);  // the top row, as OpenGL counts
  clearTo(1, 0, 0);
  const auto image = context.read();
  ASSERT_EQ(image.width, 5);
  ASSERT_EQ(image.height, 4);
  EXPECT_EQ(pixelAt(image, 0, 0), (Pixel{255, 0, 0, 255}));
  EXPECT_EQ(pixelAt(image, 2, 0), (Pixel{0, 0, 255, 255}));
  EXPECT_EQ(pixelAt(image, 0, 3), (Pixel{0, 0, 255, 255}));
}

TEST(Headless, ResizesTheFramebufferAndTheViewport) {
  HeadlessContext context(5, 4);
  context.resize(33, 21);
  GLint viewport[4] = {};
  glGetIntegerv(GL_VIEWPORT, viewport);
  EXPECT_EQ(viewport[2], 33);
  EXPECT_EQ(viewport[3], 21);
  clearTo(0, 1, 0);
  const auto image = context.read();
  EXPECT_EQ(image.width, 33);
  EXPECT_EQ(pixelAt(image, 32, 20), (Pixel{0, 255, 0, 255}));
}

TEST(Headless, RefusesInvalidSizes) {
  EXPECT_THROW(HeadlessContext(0, 5), std::invalid_argument);
  HeadlessContext context(5, 4);
  EXPECT_THROW(context.resize(1 << 24, 4), std::runtime_error);
  clearTo(0, 1, 0);
  EXPECT_EQ(context.read().width, 5);
}

TEST(Headless, ContextsKeepSeparatePixels) {
  HeadlessContext first(3, 3);
  clearTo(1, 0, 0);
  {
    HeadlessContext second(4, 4);
    clearTo(0, 1, 0);
    EXPECT_EQ(pixelAt(first.read(), 1, 1), (Pixel{255, 0, 0, 255}));
    EXPECT_EQ(pixelAt(second.read(), 1, 1), (Pixel{0, 255, 0, 255}));
  }
  first.bind();
  clearTo(0, 0, 1);
  EXPECT_EQ(pixelAt(first.read(), 1, 1), (Pixel{0, 0, 255, 255}));
}

[[noreturn]] void reportHowItFails() {
  try {
    const HeadlessContext context(4, 4);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(7);
  }
  std::exit(0);
}

class HeadlessDeathTest : public ::testing::Test {
 protected:
  // Uses a new process, because Mesa and GLVND read their settings only once.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(HeadlessDeathTest, ReportsTheOpenGlVersionFound) {
  EXPECT_EXIT(
      {
        setenv("MESA_GL_VERSION_OVERRIDE", "2.1", 1);
        reportHowItFails();
      },
      ::testing::ExitedWithCode(7), "needs an OpenGL 3.3 core context, but EGL offers only OpenGL 2.1");
}

TEST_F(HeadlessDeathTest, ReportsMissingEglDriver) {
  EXPECT_EXIT(
      {
        setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null", 1);
        reportHowItFails();
      },
      ::testing::ExitedWithCode(7), "needs an OpenGL 3.3 core context, but ");
}

}  // namespace
}  // namespace headscope::test
