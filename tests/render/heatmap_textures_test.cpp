#include "tests/render/heatmap_fixture.h"

namespace headscope::test {
namespace {

using render::HeatmapTextures;

class HeatmapTexturesTest : public HeatmapTest {
 protected:
  /// The colour of a layer whose cells are all equal.
  Pixel colorOf(const HeatmapTextures& textures, int layer) {
    auto view = viewOf(textures, {0, 0, 20, 20});
    view.layer = layer;
    return pixelAt(draw(textures, view, plainStyle()), 10, 10);
  }

  static void fill(HeatmapTextures& textures, int layer, float value) {
    const std::vector<float> values(static_cast<std::size_t>(textures.rows()) * textures.cols(), value);
    textures.upload(layer, values.data());
  }
};

TEST_F(HeatmapTexturesTest, HoldsSixtyFourLayers) {
  HeatmapTextures textures;
  textures.resize(64, 5, 7);  // odd row lengths, which a wrong row alignment would shear
  for (int layer = 0; layer < 64; ++layer) fill(textures, layer, level(4 * layer));
  for (int layer = 0; layer < 64; ++layer) EXPECT_EQ(colorOf(textures, layer), entry(4 * layer)) << layer;
  EXPECT_EQ(textures.bytes(), 64u * 5 * 7 * 4);
}

TEST_F(HeatmapTexturesTest, UploadKeepsOtherLayers) {
  HeatmapTextures textures;
  textures.resize(3, 4, 4);
  for (int layer = 0; layer < 3; ++layer) fill(textures, layer, level(50 * layer));
  fill(textures, 1, level(222));
  EXPECT_EQ(colorOf(textures, 0), entry(0));
  EXPECT_EQ(colorOf(textures, 1), entry(222));
  EXPECT_EQ(colorOf(textures, 2), entry(100));
}

TEST_F(HeatmapTexturesTest, UploadIgnoresForeignUnpackSettings) {
  HeatmapTextures textures;
  textures.resize(1, 3, 3);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 1000);
  glPixelStorei(GL_UNPACK_SKIP_ROWS, 2);
  glActiveTexture(GL_TEXTURE3);
  fill(textures, 0, level(77));
  EXPECT_EQ(colorOf(textures, 0), entry(77));
  GLint active = 0;
  glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
  EXPECT_EQ(active, GL_TEXTURE3);
}

TEST_F(HeatmapTexturesTest, ResizeToSameShapeKeepsContents) {
  HeatmapTextures textures;
  textures.resize(2, 4, 6);
  fill(textures, 1, level(99));
  textures.resize(2, 4, 6);
  EXPECT_EQ(colorOf(textures, 1), entry(99));
}

TEST_F(HeatmapTexturesTest, AcceptsUploadsAfterResizing) {
  HeatmapTextures textures;
  textures.resize(2, 4, 6);
  textures.resize(3, 9, 1);
  EXPECT_EQ(textures.layers(), 3);
  EXPECT_EQ(textures.rows(), 9);
  EXPECT_EQ(textures.cols(), 1);
  fill(textures, 2, level(31));
  EXPECT_EQ(colorOf(textures, 2), entry(31));
}

TEST_F(HeatmapTexturesTest, ReportsDeviceLimitsAndKeepsContents) {
  HeatmapTextures textures;
  textures.resize(1, 2, 2);
  fill(textures, 0, level(64));
  GLint side = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &side);
  try {
    textures.resize(1, 2, side + 1);
    FAIL() << "no limit";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(side)), std::string::npos) << error.what();
  }
  EXPECT_THROW(textures.resize(1 << 30, 2, 2), std::runtime_error);
  EXPECT_THROW(textures.resize(1, -1, 2), std::invalid_argument);
  EXPECT_EQ(colorOf(textures, 0), entry(64));
}

TEST_F(HeatmapTexturesTest, MovedFromTexturesAreEmpty) {
  HeatmapTextures first;
  EXPECT_EQ(first.bytes(), 0u);
  first.resize(1, 2, 2);
  fill(first, 0, level(12));
  HeatmapTextures second = std::move(first);
  EXPECT_EQ(first.layers(), 0);  // NOLINT(bugprone-use-after-move): guaranteed to be empty
  EXPECT_EQ(colorOf(second, 0), entry(12));
  first.resize(1, 1, 1);
  fill(first, 0, level(200));
  second = std::move(first);
  EXPECT_EQ(colorOf(second, 0), entry(200));
}

TEST_F(HeatmapTexturesTest, RefusesUploadsToMissingLayers) {
  HeatmapTextures textures;
  const float value = 0;
  EXPECT_THROW(textures.upload(0, &value), std::invalid_argument);
  textures.resize(1, 1, 1);
  EXPECT_THROW(textures.upload(1, &value), std::invalid_argument);
  EXPECT_THROW(textures.upload(-1, &value), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::test
