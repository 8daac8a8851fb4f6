// The colour of a cell with a given value.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <set>

#include "tests/render/heatmap_fixture.h"

namespace headscope::test {
namespace {

using render::HeatmapStyle;
using render::HeatmapView;
using render::kDeadCell;
using render::kMaskedCell;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

int cellCentre(int cell, int size) {
  return cell * size + size / 2;
}

TEST_F(HeatmapTest, CellCentresMatchTheColormapExactly) {
  std::vector<float> values(16 * 16);
  for (int k = 0; k < 256; ++k) values[static_cast<std::size_t>(k)] = level(k);
  const auto textures = texturesOf(16, 16, values);
  for (const auto map : render::kColormaps) {
    clear();
    HeatmapStyle style = plainStyle();
    style.colormap = map;
    const auto image = draw(textures, viewOf(textures, {0, 0, 112, 112}), style);
    for (int row = 0; row < 16; ++row) {
      for (int col = 0; col < 16; ++col) {
        EXPECT_EQ(pixelAt(image, cellCentre(col, 7), cellCentre(row, 7)), entry(row * 16 + col, map))
            << name(map) << " cell " << row << ", " << col;
      }
    }
  }
}

TEST_F(HeatmapTest, TintReplacesTheColormap) {
  const auto textures = texturesOf(1, 3, {level(0), level(51), level(255)});
  for (const auto& [low, high] : {std::pair{rgb(0x102030), rgb(0x60f080)}, {rgb(0xffffff), rgb(0x0b6bc2)}}) {
    HeatmapStyle style = plainStyle();
    style.tint = render::Tint{low, high};
    const auto image = draw(textures, viewOf(textures, {0, 0, 60, 20}), style);
    EXPECT_EQ(pixelAt(image, 10, 10), toPixel(low));
    EXPECT_EQ(pixelAt(image, 50, 10), toPixel(high));
    const Pixel actual = pixelAt(image, 30, 10);
    for (std::size_t c = 0; c < 3; ++c) {
      // A fifth of the way, exact except that the result is rounded to whole levels.
      EXPECT_NEAR(actual[c], 0.8 * toPixel(low)[c] + 0.2 * toPixel(high)[c], 0.51) << c;
    }
  }
  // Drawing without the tint restores the colour.
  EXPECT_EQ(pixelAt(draw(textures, viewOf(textures, {0, 0, 60, 20}), plainStyle()), 50, 10), entry(255));
}

TEST_F(HeatmapTest, ClampsValuesToTheRange) {
  const auto textures = texturesOf(1, 4, {-kLargest / 2, -0.001f, 1.001f, kLargest});
  const auto image = draw(textures, viewOf(textures, {0, 0, 80, 20}), plainStyle());
  EXPECT_EQ(pixelAt(image, 10, 10), entry(0));
  EXPECT_EQ(pixelAt(image, 30, 10), entry(0));
  EXPECT_EQ(pixelAt(image, 50, 10), entry(255));
  EXPECT_EQ(pixelAt(image, 70, 10), entry(255));
}

TEST_F(HeatmapTest, RangeRescalesColours) {
  const auto textures = texturesOf(1, 3, {-2.0f, 0.0f, 2.0f});
  HeatmapStyle style = plainStyle();
  style.low = -2;
  style.high = 8;
  const auto image = draw(textures, viewOf(textures, {0, 0, 60, 20}), style);
  EXPECT_EQ(pixelAt(image, 10, 10), entry(0));
  EXPECT_EQ(pixelAt(image, 30, 10), entry(51));   // 2/10
  EXPECT_EQ(pixelAt(image, 50, 10), entry(102));  // 4/10
}

TEST_F(HeatmapTest, EmptyRangeUsesTheLowColour) {
  const auto textures = texturesOf(1, 2, {0.5f, 0.7f});
  HeatmapStyle style = plainStyle();
  style.low = style.high = 0.5f;
  const auto image = draw(textures, viewOf(textures, {0, 0, 40, 20}), style);
  EXPECT_EQ(pixelAt(image, 10, 10), entry(0));
  EXPECT_EQ(pixelAt(image, 30, 10), entry(0));
}

TEST_F(HeatmapTest, LogarithmicRangeHasEvenSteps) {
  HeatmapStyle style = plainStyle();
  style.logarithmic = true;
  style.low = 1e-3f;
  std::vector<float> values;
  for (int k = 0; k < 256; k += 17) {
    values.push_back(static_cast<float>(std::pow(10.0, -3.0 + 3.0 * k / 255.0)));
  }
  for (const float below : {0.0f, -1.0f, 1e-30f}) values.push_back(below);
  const auto textures = texturesOf(1, static_cast<int>(values.size()), values);
  const auto image = draw(textures, viewOf(textures, {0, 0, 152, 20}), style);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(pixelAt(image, cellCentre(i, 8), 10), entry(17 * i)) << i;
  for (int i = 16; i < 19; ++i) EXPECT_EQ(pixelAt(image, cellCentre(i, 8), 10), entry(0)) << i;
}

TEST_F(HeatmapTest, NonFiniteValuesUseTheNanColour) {
  std::vector<float> values{std::bit_cast<float>(0x7fc00000u), std::bit_cast<float>(0xffc00001u),
                            std::bit_cast<float>(0x7f800001u), kInfinity};
  const auto textures = texturesOf(1, 4, values);
  const HeatmapStyle style = plainStyle();
  const auto image = draw(textures, viewOf(textures, {0, 0, 80, 20}), style);
  for (int x : {10, 30, 50, 70}) EXPECT_EQ(pixelAt(image, x, 10), toPixel(style.nan)) << x;
}

/// The colours within one cell of `size` pixels.
std::multiset<Pixel> colorsIn(const render::Image& image, int x0, int y0, int size) {
  std::multiset<Pixel> colors;
  for (int y = y0; y < y0 + size; ++y) {
    for (int x = x0; x < x0 + size; ++x) colors.insert(pixelAt(image, x, y));
  }
  return colors;
}

TEST_F(HeatmapTest, MaskedCellsAreHatchedOverTheBackground) {
  const auto textures = texturesOf(1, 2, {kMaskedCell, 0.5f});
  const HeatmapStyle style = plainStyle();
  const auto image = draw(textures, viewOf(textures, {0, 0, 80, 40}), style);
  const auto colors = colorsIn(image, 0, 0, 40);
  EXPECT_GT(colors.count(toPixel(style.background)), 40u * 40u / 2);
  EXPECT_GT(colors.count(toPixel(style.maskedHatch)), 40u * 40u / 16);
}

TEST_F(HeatmapTest, MaskedColourReplacesTheBackground) {
  const auto textures = texturesOf(1, 1, {kMaskedCell});
  HeatmapStyle style = plainStyle();
  style.masked = rgb(0x141920);
  const auto image = draw(textures, viewOf(textures, {0, 0, 40, 40}), style);
  EXPECT_GT(colorsIn(image, 0, 0, 40).count(toPixel(style.masked)), 40u * 40u / 2);
}

TEST_F(HeatmapTest, DeadCellsAreHatchedMoreDenselyThanMasked) {
  const auto textures = texturesOf(1, 2, {kMaskedCell, kDeadCell});
  HeatmapStyle style = plainStyle();
  style.deadHatch = style.maskedHatch;
  const auto image = draw(textures, viewOf(textures, {0, 0, 80, 40}), style);
  const auto masked = colorsIn(image, 0, 0, 40), dead = colorsIn(image, 40, 0, 40);
  // Two families of lines, which share the pixels where they cross.
  EXPECT_GT(2 * dead.count(toPixel(style.deadHatch)), 3 * masked.count(toPixel(style.maskedHatch)));
  EXPECT_GT(dead.count(toPixel(style.background)), 0u);
}

TEST_F(HeatmapTest, SmallSpecialCellsAreFlatTones) {
  std::vector<float> values(40 * 40, kMaskedCell);
  std::fill(values.begin() + 20 * 40, values.end(), kDeadCell);
  const auto textures = texturesOf(40, 40, values);
  const auto image = draw(textures, viewOf(textures, {0, 0, 80, 80}), plainStyle());
  const auto masked = colorsIn(image, 0, 0, 40), dead = colorsIn(image, 0, 40, 40);
  EXPECT_EQ(masked.count(*masked.begin()), masked.size());
  EXPECT_EQ(dead.count(*dead.begin()), dead.size());
  EXPECT_NE(*masked.begin(), *dead.begin());
  EXPECT_NE(*masked.begin(), toPixel(plainStyle().background));
}

/// The average brightness of a square of pixels, from black (0) to white (1).
double brightness(const render::Image& image, int x0, int y0, int size) {
  double sum = 0;
  for (int y = y0; y < y0 + size; ++y) {
    for (int x = x0; x < x0 + size; ++x) sum += pixelAt(image, x, y)[0];
  }
  return sum / (255.0 * size * size);
}

TEST_F(HeatmapTest, HatchKeepsItsBrightnessAtEveryCellSize) {
  HeatmapStyle style = plainStyle();
  style.background = rgb(0x000000);
  style.maskedHatch = style.deadHatch = rgb(0xffffff);
  // Lines of 1 pixel every 12 along a row, so every 12/√2 across, cover √2/12; two families cover a bit less
  // than twice that. A line's few pixels only sample its slopes, hence a tolerance of a twentieth of the
  // contrast.
  const double masked = std::sqrt(2.0) / 12, dead = 1 - (1 - masked) * (1 - masked);
  for (const int cell : {6, 10, 12, 15, 20, 60}) {  // from pure tone to pure lines
    clear();
    const int cells = 120 / cell;
    std::vector<float> values(static_cast<std::size_t>(cells) * cells, kMaskedCell);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end(), kDeadCell);
    const auto textures = texturesOf(cells, cells, values);
    const auto image = draw(textures, viewOf(textures, {0, 0, 120, 120}), style);
    EXPECT_NEAR(brightness(image, 0, 0, 60), masked, 0.05) << cell;
    EXPECT_NEAR(brightness(image, 0, 60, 60), dead, 0.05) << cell;
  }
}

TEST_F(HeatmapTest, BlendsWithPreviousValues) {
  const auto before = texturesOf(1, 3, {level(40), level(200), level(7)});
  const auto after = texturesOf(1, 3, {level(120), level(0), level(7)});
  const auto view = viewOf(after, {0, 0, 60, 20});
  auto image = draw(after, view, plainStyle(), &before, 0.25f);
  EXPECT_EQ(pixelAt(image, 10, 10), entry(60));
  EXPECT_EQ(pixelAt(image, 30, 10), entry(150));
  EXPECT_EQ(pixelAt(image, 50, 10), entry(7));
  image = draw(after, view, plainStyle(), &before, 0.0f);
  EXPECT_EQ(pixelAt(image, 10, 10), entry(40));
  image = draw(after, view, plainStyle(), &before, 1.0f);
  EXPECT_EQ(pixelAt(image, 10, 10), entry(120));
}

TEST_F(HeatmapTest, SpecialCellsSwitchWithoutBlending) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto before = texturesOf(1, 4, {kMaskedCell, nan, kDeadCell, level(90)});
  const auto after = texturesOf(1, 4, {level(10), level(20), level(30), nan});
  const auto image = draw(after, viewOf(after, {0, 0, 80, 20}), plainStyle(), &before, 0.01f);
  EXPECT_EQ(pixelAt(image, 10, 10), entry(10));
  EXPECT_EQ(pixelAt(image, 30, 10), entry(20));
  EXPECT_EQ(pixelAt(image, 50, 10), entry(30));
  EXPECT_EQ(pixelAt(image, 70, 10), toPixel(plainStyle().nan));
}

TEST_F(HeatmapTest, UnlitRowsFadeTowardsTheBackground) {
  const auto textures = texturesOf(4, 1, {level(255), level(255), level(255), kInfinity});
  HeatmapView view = viewOf(textures, {0, 0, 20, 80});
  view.litRows = 2;
  view.fade = 0.25f;
  const HeatmapStyle style = plainStyle();
  const auto image = draw(textures, view, style);
  EXPECT_EQ(pixelAt(image, 10, 10), entry(255));
  EXPECT_EQ(pixelAt(image, 10, 30), entry(255));
  const Pixel ground = toPixel(style.background);
  for (const auto& [y, full] : {std::pair{50, entry(255)}, std::pair{70, toPixel(style.nan)}}) {
    const Pixel actual = pixelAt(image, 10, y);
    for (std::size_t c = 0; c < 3; ++c) {
      // Exact except that the result is rounded to whole levels.
      EXPECT_NEAR(actual[c], 0.75 * ground[c] + 0.25 * full[c], 0.51) << y << " channel " << c;
    }
    EXPECT_EQ(actual[3], 255);
  }
}

TEST_F(HeatmapTest, DrawsOpaqueWhenBlendingIsEnabled) {
  const auto textures = texturesOf(1, 1, {level(128)});
  HeatmapStyle style = plainStyle();
  style.background.a = 0;
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE);
  const auto image = draw(textures, viewOf(textures, {0, 0, 20, 20}), style);
  EXPECT_EQ(pixelAt(image, 10, 10), entry(128));
}

}  // namespace
}  // namespace headscope::test
