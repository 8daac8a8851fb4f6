#include "render/picture.h"

#include <gtest/gtest.h>

#include "render/headless.h"
#include "render/viewport.h"

namespace headscope::render {
namespace {

TEST(Picture, KeepsACopyOfTheFramebuffer) {
  HeadlessContext context(8, 4);
  clearViewport(8, 4, {1, 0, 0});
  Picture picture(8, 4);
  EXPECT_FALSE(picture.empty());
  picture.copyBound(8, 4);
  clearViewport(8, 4, {0, 0, 1});
  EXPECT_EQ(picture.read().rgba[0], 255);
  EXPECT_EQ(picture.read().rgba[2], 0);
  EXPECT_EQ(context.read().rgba[2], 255) << "the framebuffer before is bound again";
}

TEST(Picture, ReceivesDrawingWhileBound) {
  HeadlessContext context(8, 4);
  clearViewport(8, 4, {1, 0, 0});
  const Picture picture(2, 2);
  {
    const Picture::Bound bound(picture);
    clearViewport(2, 2, {0, 1, 0});
  }
  EXPECT_EQ(picture.read().rgba[1], 255);
  EXPECT_EQ(context.read().rgba[0], 255);
  EXPECT_EQ(context.read().rgba[1], 0);
}

}  // namespace
}  // namespace headscope::render
