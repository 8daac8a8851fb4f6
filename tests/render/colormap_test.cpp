#include "render/colormap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace headscope::test {
namespace {

using render::Color;
using render::Colormap;
using render::sample;

/// CIE L* of an sRGB colour (IEC 61966-2-1 and CIE 15), 0..100.
double lightness(const Color& c) {
  const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  const double y = 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
  return y > 216.0 / 24389.0 ? 116.0 * std::cbrt(y) - 16.0 : y * 24389.0 / 27.0;
}

double lightnessAt(Colormap map, int entry) {
  return lightness(sample(map, static_cast<float>(entry) / 255.0f));
}

struct Published {
  Colormap map;
  int entry;
  int r, g, b;
};

/// Entries of the published tables; not all of them are anchors.
constexpr Published kPublished[] = {
    {Colormap::viridis, 0, 68, 1, 84},       {Colormap::viridis, 20, 72, 29, 111},
    {Colormap::viridis, 77, 52, 96, 141},    {Colormap::viridis, 128, 33, 145, 140},
    {Colormap::viridis, 170, 53, 183, 121},  {Colormap::viridis, 231, 192, 223, 37},
    {Colormap::viridis, 255, 253, 231, 37},  {Colormap::cividis, 0, 0, 34, 78},
    {Colormap::cividis, 20, 0, 48, 112},     {Colormap::cividis, 77, 80, 87, 108},
    {Colormap::cividis, 128, 125, 124, 120}, {Colormap::cividis, 170, 165, 156, 116},
    {Colormap::cividis, 231, 230, 208, 81},  {Colormap::cividis, 255, 254, 232, 56},
    {Colormap::magma, 0, 0, 0, 4},           {Colormap::magma, 20, 14, 11, 43},
    {Colormap::magma, 77, 101, 26, 128},     {Colormap::magma, 128, 183, 55, 121},
    {Colormap::magma, 170, 241, 96, 93},     {Colormap::magma, 231, 254, 209, 148},
    {Colormap::magma, 255, 252, 253, 191},
};

TEST(Colormap, MatchesThePublishedTables) {
  // One level for the rounding of the anchors, one for that of the published entries here.
  constexpr double kLevels = 2;
  for (const Published& p : kPublished) {
    const Color c = sample(p.map, static_cast<float>(p.entry) / 255.0f);
    EXPECT_NEAR(255 * c.r, p.r, kLevels) << name(p.map) << " entry " << p.entry;
    EXPECT_NEAR(255 * c.g, p.g, kLevels) << name(p.map) << " entry " << p.entry;
    EXPECT_NEAR(255 * c.b, p.b, kLevels) << name(p.map) << " entry " << p.entry;
  }
}

TEST(Colormap, SequentialMapsGetLighterAtEveryStep) {
  for (const Colormap map : render::kColormaps) {
    if (map == Colormap::diverging) continue;
    for (int i = 1; i < 256; ++i) {
      ASSERT_GT(lightnessAt(map, i), lightnessAt(map, i - 1)) << name(map) << " entry " << i;
    }
  }
}

TEST(Colormap, CustomMapsHaveEvenLightnessSteps) {
  for (const Colormap map : {Colormap::blues, Colormap::greys}) {
    const double whole = lightnessAt(map, 255) - lightnessAt(map, 0);
    for (int i = 0; i <= 255; i += 15) {
      // One unit of L* is about the smallest visible difference.
      EXPECT_NEAR(lightnessAt(map, i), lightnessAt(map, 0) + whole * i / 255, 1.0) << name(map) << i;
    }
  }
}

TEST(Colormap, CustomMapsContrastWithBothThemes) {
  const double dark = lightness({13 / 255.0f, 16 / 255.0f, 21 / 255.0f, 1}), light = 100;
  for (const Colormap map : {Colormap::blues, Colormap::greys, Colormap::diverging}) {
    for (int i = 0; i < 256; ++i) {
      EXPECT_GT(lightnessAt(map, i), dark + 10) << name(map) << " entry " << i;
      EXPECT_LT(lightnessAt(map, i), light - 10) << name(map) << " entry " << i;
    }
  }
}

TEST(Colormap, DivergingIsSymmetricInLightness) {
  const auto map = Colormap::diverging;
  for (int i = 0; i < 128; ++i) {
    EXPECT_NEAR(lightnessAt(map, i), lightnessAt(map, 255 - i), 1.0) << i;
  }
  // The two middle entries are both the neutral tone.
  for (int i = 0; i < 127; ++i) {
    EXPECT_GT(lightnessAt(map, i), lightnessAt(map, i + 1)) << i;
  }
  const Color middle = sample(map, 0.5f), low = sample(map, 0), high = sample(map, 1);
  EXPECT_NEAR(middle.r, middle.b, 1.0 / 255);
  EXPECT_NEAR(middle.r, middle.g, 1.0 / 255);
  EXPECT_GT(std::min(low.r, low.b), low.g + 0.15f);
  EXPECT_GT(high.g, std::max(high.r, high.b) + 0.15f) << "neither the orange of queries nor the blue of keys";
}

TEST(Colormap, ClampsOutOfRangeValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Colormap map : render::kColormaps) {
    for (const float t : {-0.1f, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      EXPECT_EQ(sample(map, t), sample(map, 0)) << name(map);
    }
    for (const float t : {1.1f, kInfinity}) EXPECT_EQ(sample(map, t), sample(map, 1)) << name(map);
  }
}

TEST(Colormap, TableMatchesTheSampledMap) {
  for (const Colormap map : render::kColormaps) {
    const auto entries = table(map);
    for (std::size_t i = 0; i < 256; ++i) {
      const Color c = sample(map, static_cast<float>(i) / 255.0f);
      EXPECT_NEAR(entries[4 * i], 255 * c.r, 0.5);
      EXPECT_NEAR(entries[4 * i + 1], 255 * c.g, 0.5);
      EXPECT_NEAR(entries[4 * i + 2], 255 * c.b, 0.5);
      EXPECT_EQ(entries[4 * i + 3], 255);
    }
  }
}

TEST(Colormap, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Colormap map : render::kColormaps) names.insert(name(map));
  EXPECT_EQ(names.size(), render::kColormaps.size());
}

}  // namespace
}  // namespace headscope::test
