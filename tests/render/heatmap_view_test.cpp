// Which cell is drawn at which pixel, and which pixels stay untouched.

#include <limits>

#include "tests/render/heatmap_fixture.h"

namespace headscope::test {
namespace {

using render::HeatmapStyle;
using render::HeatmapTextures;
using render::HeatmapView;
using render::Rect;

std::vector<float> countingValues(int rows, int cols) {
  std::vector<float> values(static_cast<std::size_t>(rows) * cols);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 256) / 255.0f;
  return values;
}

TEST_F(HeatmapTest, FirstRowIsAtTheTop) {
  const auto textures = texturesOf(2, 2, {level(10), level(80), level(150), level(220)});
  const auto image = draw(textures, viewOf(textures, {20, 10, 60, 50}), plainStyle());
  EXPECT_EQ(pixelAt(image, 30, 20), entry(10));
  EXPECT_EQ(pixelAt(image, 50, 20), entry(80));
  EXPECT_EQ(pixelAt(image, 30, 40), entry(150));
  EXPECT_EQ(pixelAt(image, 50, 40), entry(220));
}

TEST_F(HeatmapTest, DrawsNothingOutsideTheClip) {
  const auto textures = texturesOf(1, 1, {level(128)});
  HeatmapView view = viewOf(textures, {0, 0, kWidth, kHeight});
  // A pixel belongs to the clip if its centre does: 37.5 includes pixel 37, 90.6 includes pixel 90.
  for (const Rect clip : {Rect{37, 41, 90, 77}, Rect{37.5f, 40.6f, 90.4f, 77.5f}, Rect{-50, 20, 30, 1000},
                          Rect{10, 10, 11, 11}}) {
    clear();
    view.clip = clip;
    const auto image = draw(textures, view, plainStyle());
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const float cx = static_cast<float>(x) + 0.5f, cy = static_cast<float>(y) + 0.5f;
        const bool inside = cx >= clip.x0 && cx < clip.x1 && cy >= clip.y0 && cy < clip.y1;
        ASSERT_EQ(pixelAt(image, x, y), inside ? entry(128) : kUntouched) << x << ", " << y;
      }
    }
  }
}

TEST_F(HeatmapTest, DrawsNothingOutsideTheTarget) {
  const auto textures = texturesOf(1, 1, {level(128)});
  HeatmapView view = viewOf(textures, {30, 25, 70, 65});
  view.clip = {0, 0, kWidth, kHeight};
  const auto image = draw(textures, view, plainStyle());
  EXPECT_EQ(pixelAt(image, 29, 40), kUntouched);
  EXPECT_EQ(pixelAt(image, 30, 40), entry(128));
  EXPECT_EQ(pixelAt(image, 69, 64), entry(128));
  EXPECT_EQ(pixelAt(image, 70, 64), kUntouched);
  EXPECT_EQ(pixelAt(image, 69, 65), kUntouched);
}

TEST_F(HeatmapTest, EmptyClipDrawsNothing) {
  const auto textures = texturesOf(1, 1, {level(128)});
  HeatmapView view = viewOf(textures, {0, 0, 40, 40});
  view.clip = {30, 30, 20, 50};
  EXPECT_EQ(pixelAt(draw(textures, view, plainStyle()), 25, 35), kUntouched);
}

/// The cell under a pixel by the header's definition; −1 outside the matrix.
int cellUnder(int pixel, float start, float cellSize, float first, int count) {
  const double at = (pixel + 0.5 - start) / cellSize + first;
  const int cell = static_cast<int>(std::floor(at));
  return cell < 0 || cell >= count ? -1 : cell;
}

TEST_F(HeatmapTest, PanAndZoomHandleFractionalOffsets) {
  const auto textures = texturesOf(14, 18, countingValues(14, 18));
  struct Case {
    Rect target;
    float firstRow, firstCol, rows, cols;
  };
  for (const Case& c :
       {Case{{10, 5, 140, 95}, 3.25f, 5.75f, 4.5f, 6.5f}, Case{{0.3f, 0.7f, 159.1f, 119.9f}, 0, 0, 14, 18},
        Case{{10, 5, 140, 95}, -1.5f, -2.25f, 20, 30}, Case{{10, 5, 140, 95}, 13.5f, 17.9f, 0.4f, 0.05f}}) {
    clear();
    HeatmapView view = viewOf(textures, c.target);
    view.firstRow = c.firstRow;
    view.firstCol = c.firstCol;
    view.rows = c.rows;
    view.cols = c.cols;
    const auto image = draw(textures, view, plainStyle());
    const float width = c.target.width() / c.cols, height = c.target.height() / c.rows;
    for (int y = static_cast<int>(c.target.y0) + 1; y < static_cast<int>(c.target.y1); ++y) {
      for (int x = static_cast<int>(c.target.x0) + 1; x < static_cast<int>(c.target.x1); ++x) {
        const int row = cellUnder(y, c.target.y0, height, c.firstRow, 14);
        const int col = cellUnder(x, c.target.x0, width, c.firstCol, 18);
        const Pixel expected = row < 0 || col < 0 ? toPixel(plainStyle().background) : entry(row * 18 + col);
        ASSERT_EQ(pixelAt(image, x, y), expected) << "pixel " << x << ", " << y << " first " << c.firstRow;
      }
    }
  }
}

TEST_F(HeatmapTest, GapsAreOnePixelAtRightAndLowerEdges) {
  HeatmapStyle style = plainStyle();
  style.gap = 1;
  const Pixel ground = toPixel(style.background);
  const auto textures = texturesOf(7, 7, std::vector<float>(49, level(200)));
  // Whole, fractional and half-pixel cells; the last put edges exactly on pixel centres.
  for (const float cell : {16.0f, 15.37f, 12.5f}) {
    clear();
    const auto image = draw(textures, viewOf(textures, {0, 0, 7 * cell, 7 * cell}), style);
    for (int i = 0; i < 7; ++i) {
      const int begin = static_cast<int>(std::ceil(static_cast<float>(i) * cell - 0.5f));
      const int end = static_cast<int>(std::ceil(static_cast<float>(i + 1) * cell - 0.5f));
      for (int x = begin; x < end; ++x) {
        EXPECT_EQ(pixelAt(image, x, 5), x == end - 1 ? ground : entry(200)) << cell << " column " << x;
        EXPECT_EQ(pixelAt(image, 5, x), x == end - 1 ? ground : entry(200)) << cell << " row " << x;
      }
    }
  }
}

TEST_F(HeatmapTest, SmallCellsHaveNoGaps) {
  HeatmapStyle style = plainStyle();
  style.gap = 1;
  const auto textures = texturesOf(20, 20, std::vector<float>(400, level(200)));
  const auto image = draw(textures, viewOf(textures, {0, 0, 120, 120}), style);
  for (int x = 0; x < 120; ++x) ASSERT_EQ(pixelAt(image, x, x), entry(200)) << x;
}

TEST_F(HeatmapTest, CellsSmallerThanAPixelArePointSampled) {
  const auto textures = texturesOf(240, 320, countingValues(240, 320));
  const auto image = draw(textures, viewOf(textures, {0, 0, 160, 120}), plainStyle());
  for (int y = 0; y < 120; ++y) {
    for (int x = 0; x < 160; ++x) {
      // Pixel centres lie on the edge of the second of two cells.
      ASSERT_EQ(pixelAt(image, x, y), entry(((2 * y + 1) * 320 + 2 * x + 1) % 256)) << x << ", " << y;
    }
  }
}

TEST_F(HeatmapTest, RestoresTheStateItChanges) {
  const auto textures = texturesOf(1, 1, {level(128)});
  const GLenum switches[] = {GL_BLEND, GL_SCISSOR_TEST, GL_DEPTH_TEST, GL_STENCIL_TEST, GL_CULL_FACE};
  for (const bool on : {true, false}) {
    for (const GLenum s : switches) on ? glEnable(s) : glDisable(s);
    glScissor(3, 5, 7, 11);
    glViewport(1, 2, 30, 40);
    glActiveTexture(GL_TEXTURE5);
    const auto image = draw(textures, viewOf(textures, {40, 40, 80, 80}), plainStyle());
    EXPECT_EQ(pixelAt(image, 60, 60), entry(128));
    for (const GLenum s : switches) EXPECT_EQ(glIsEnabled(s) == GL_TRUE, on) << s;
    GLint box[4] = {}, active = 0;
    glGetIntegerv(GL_SCISSOR_BOX, box);
    EXPECT_EQ(std::vector<GLint>(box, box + 4), (std::vector<GLint>{3, 5, 7, 11}));
    glGetIntegerv(GL_VIEWPORT, box);
    EXPECT_EQ(std::vector<GLint>(box, box + 4), (std::vector<GLint>{1, 2, 30, 40}));
    glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
    EXPECT_EQ(active, GL_TEXTURE5);
  }
}

TEST_F(HeatmapTest, RemovesForeignSamplersFromItsUnits) {
  GLuint sampler = 0;
  glGenSamplers(1, &sampler);
  glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  for (GLuint unit : {0u, 1u, 2u}) glBindSampler(unit, sampler);
  const auto before = texturesOf(1, 1, {level(100)}), after = texturesOf(1, 1, {level(200)});
  const auto image = draw(after, viewOf(after, {0, 0, 20, 20}), plainStyle(), &before, 0.5f);
  EXPECT_EQ(pixelAt(image, 10, 10), entry(150));
  for (const GLenum unit : {GL_TEXTURE0, GL_TEXTURE1, GL_TEXTURE2}) {
    GLint bound = -1;
    glActiveTexture(unit);
    glGetIntegerv(GL_SAMPLER_BINDING, &bound);
    EXPECT_EQ(bound, 0);
  }
  glDeleteSamplers(1, &sampler);
}

TEST_F(HeatmapTest, RefusesInvalidArguments) {
  const auto textures = texturesOf(2, 3, countingValues(2, 3));
  const auto other = texturesOf(3, 2, countingValues(3, 2));
  const HeatmapView view = viewOf(textures, {0, 0, 20, 20});
  const auto paint = [&](const HeatmapTextures& t, const HeatmapTextures* previous, const HeatmapView& v,
                         const HeatmapStyle& s) { painter.draw(t, previous, 0.5f, v, s, kWidth, kHeight); };
  EXPECT_THROW(paint(textures, &other, view, plainStyle()), std::invalid_argument);
  EXPECT_THROW(paint(HeatmapTextures(), nullptr, view, plainStyle()), std::invalid_argument);
  HeatmapView wrong = view;
  wrong.layer = 1;
  EXPECT_THROW(paint(textures, nullptr, wrong, plainStyle()), std::invalid_argument);
  wrong = view;
  wrong.cols = 0;
  EXPECT_THROW(paint(textures, nullptr, wrong, plainStyle()), std::invalid_argument);
  for (const float start : {std::numeric_limits<float>::quiet_NaN(), 1e20f, -1e20f}) {
    wrong = view;
    wrong.firstRow = start;
    EXPECT_THROW(paint(textures, nullptr, wrong, plainStyle()), std::invalid_argument) << start;
  }
  HeatmapStyle style = plainStyle();
  style.logarithmic = true;  // from 0
  EXPECT_THROW(paint(textures, nullptr, view, style), std::invalid_argument);
}

TEST_F(HeatmapTest, ShaderErrorsContainTheCompilerLog) {
  try {
    render::HeatmapPainter broken(shaderSource("heatmap.vert"), "void main() {\n  nonsense;\n}\n");
    FAIL() << "compiled";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("fragment shader"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos) << error.what();
  }
}

/// Wherever the cells lie relative to the pixels, also if one matrix is drawn in two parts.
TEST_F(HeatmapTest, MaxPoolingKeepsABrightCellOnOnePixel) {
  constexpr int kCells = 90;
  for (const float size : {89.0f, 71.3f, 60.0f, 45.0f})
    for (const int bright : {0, 1, 31, 44, 45, 46, 77, 89}) {
      std::vector<float> values(static_cast<std::size_t>(kCells) * kCells, level(20));
      values[static_cast<std::size_t>(bright) * kCells + static_cast<std::size_t>(bright)] = level(240);
      const auto textures = texturesOf(kCells, kCells, values);
      clear();
      render::Image image;
      for (const int half : {0, 1}) {
        HeatmapView view = viewOf(textures, {3.4f, 5.7f, 3.4f + size, 5.7f + size});
        view.cols = kCells / 2.0f;
        view.firstCol = static_cast<float>(half) * view.cols;
        (half == 0 ? view.target.x1 : view.target.x0) = 3.4f + size / 2;
        view.clip = view.target;
        view.pooling = render::CellPooling::max;
        image = draw(textures, view, plainStyle());
      }
      int found = 0;
      for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x) found += pixelAt(image, x, y) == entry(240);
      EXPECT_EQ(found, 1) << "cell " << bright << " on " << size << " pixels";
    }
}

TEST_F(HeatmapTest, MeanPoolingAveragesTheCellsOfAPixel) {
  const auto textures = texturesOf(2, 4,
                                   {level(0), level(100), level(40), level(60),  //
                                    level(200), level(100), level(80), level(20)});
  HeatmapView view = viewOf(textures, {10, 10, 12, 11});
  view.pooling = render::CellPooling::mean;
  const auto image = draw(textures, view, plainStyle());
  EXPECT_EQ(pixelAt(image, 10, 10), entry(100));
  EXPECT_EQ(pixelAt(image, 11, 10), entry(50));
}

TEST_F(HeatmapTest, PoolingIgnoresMaskedCells) {
  const auto textures =
      texturesOf(2, 2, {render::kMaskedCell, render::kMaskedCell, render::kMaskedCell, level(90)});
  HeatmapView view = viewOf(textures, {10, 10, 11, 11});
  view.pooling = render::CellPooling::max;
  EXPECT_EQ(pixelAt(draw(textures, view, plainStyle()), 10, 10), entry(90));
}

}  // namespace
}  // namespace headscope::test
