#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "render/gl.h"
#include "render/headless.h"
#include "render/heatmap.h"
#include "test_paths.h"

namespace headscope::test {

inline std::string readText(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string shaderSource(const std::string& file) {
  return readText(std::string(HEADSCOPE_SOURCE_DIR) + "/assets/shaders/" + file);
}

using Pixel = std::array<int, 4>;

inline Pixel pixelAt(const render::Image& image, int x, int y) {
  const std::uint8_t* p = image.rgba.data() + 4 * (static_cast<std::size_t>(y) * image.width + x);
  return {p[0], p[1], p[2], p[3]};
}

inline Pixel toPixel(const render::Color& c) {
  const auto level = [](float v) { return static_cast<int>(std::lround(255.0f * v)); };
  return {level(c.r), level(c.g), level(c.b), level(c.a)};
}

inline render::Color rgb(unsigned hex) {
  return {static_cast<float>(hex >> 16 & 255) / 255, static_cast<float>(hex >> 8 & 255) / 255,
          static_cast<float>(hex & 255) / 255, 1};
}

/// A context, a painter, and a canvas of 160 × 120 pixels cleared to a colour that no heatmap uses.
class HeatmapTest : public ::testing::Test {
 protected:
  static constexpr int kWidth = 160, kHeight = 120;
  static constexpr Pixel kUntouched{255, 0, 0, 255};

  HeatmapTest() { clear(); }

  void clear() {
    context.bind();
    glDisable(GL_SCISSOR_TEST);
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
  }

  /// A style in which the value k/255 has entry k of viridis, without gaps.
  static render::HeatmapStyle plainStyle() {
    render::HeatmapStyle style;
    style.background = rgb(0x0d1015);
    style.maskedHatch = rgb(0x262f3a);
    style.deadHatch = rgb(0xd0d8e0);
    style.gap = 0;
    return style;
  }

  /// A view of a whole layer in the rectangle, clipped only by it.
  static render::HeatmapView viewOf(const render::HeatmapTextures& textures, const render::Rect& target) {
    render::HeatmapView view;
    view.target = view.clip = target;
    view.rows = static_cast<float>(textures.rows());
    view.cols = static_cast<float>(textures.cols());
    return view;
  }

  static render::HeatmapTextures texturesOf(int rows, int cols, const std::vector<float>& values) {
    render::HeatmapTextures textures;
    textures.resize(1, rows, cols);
    textures.upload(0, values.data());
    return textures;
  }

  render::Image draw(const render::HeatmapTextures& textures, const render::HeatmapView& view,
                     const render::HeatmapStyle& style, const render::HeatmapTextures* previous = nullptr,
                     float blend = 1) {
    painter.draw(textures, previous, blend, view, style, kWidth, kHeight);
    EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
    return context.read();
  }

  static float level(int k) { return static_cast<float>(k) / 255.0f; }
  /// The colour of a cell with the value level(k).
  static Pixel entry(int k, render::Colormap map = render::Colormap::viridis) {
    return toPixel(render::sample(map, level(k)));
  }

  render::HeadlessContext context{kWidth, kHeight};
  render::HeatmapPainter painter{shaderSource("heatmap.vert"), shaderSource("heatmap.frag")};
};

}  // namespace headscope::test
