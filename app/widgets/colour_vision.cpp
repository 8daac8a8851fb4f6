#include "app/widgets/colour_vision.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::app {

namespace {

using Matrix3 = std::array<std::array<float, 3>, 3>;
using Triple = std::array<float, 3>;

constexpr Matrix3 kNoRed{{{0.152286f, 1.052583f, -0.204868f},
                          {0.114503f, 0.786281f, 0.099216f},
                          {-0.003882f, -0.048116f, 1.051998f}}};
constexpr Matrix3 kNoGreen{{{0.367322f, 0.860646f, -0.227968f},
                            {0.280085f, 0.672501f, 0.047413f},
                            {-0.011820f, 0.042940f, 0.968881f}}};
constexpr Matrix3 kNoBlue{{{1.255528f, -0.076749f, -0.178779f},
                           {-0.078411f, 0.930809f, 0.147602f},
                           {0.004733f, 0.691367f, 0.303900f}}};
/// Relative luminance in every channel.
constexpr Matrix3 kGrey{
    {{0.2126f, 0.7152f, 0.0722f}, {0.2126f, 0.7152f, 0.0722f}, {0.2126f, 0.7152f, 0.0722f}}};

Triple linear(const render::Color& color) {
  const auto one = [](float v) { return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f); };
  return {one(color.r), one(color.g), one(color.b)};
}

float encoded(float v) {
  v = std::clamp(v, 0.0f, 1.0f);
  return v <= 0.0031308f ? 12.92f * v : 1.055f * std::pow(v, 1 / 2.4f) - 0.055f;
}

Triple times(const Matrix3& matrix, const Triple& v) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i)
    out[i] = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
  return out;
}

/// CIE 1976 L*a*b* under D65.
Triple lab(const render::Color& color) {
  constexpr Matrix3 kXyz{{{0.4124564f, 0.3575761f, 0.1804375f},
                          {0.2126729f, 0.7151522f, 0.0721750f},
                          {0.0193339f, 0.1191920f, 0.9503041f}}};
  const Triple xyz = times(kXyz, linear(color));
  const auto f = [](float t) { return t > 0.008856f ? std::cbrt(t) : 7.787f * t + 16.0f / 116; };
  const float x = f(xyz[0] / 0.95047f), y = f(xyz[1]), z = f(xyz[2] / 1.08883f);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

}  // namespace

render::Color seenBy(ColourVision vision, const render::Color& color) {
  if (vision == ColourVision::normal) return color;
  const Matrix3& matrix = vision == ColourVision::protanopia     ? kNoRed
                          : vision == ColourVision::deuteranopia ? kNoGreen
                          : vision == ColourVision::tritanopia   ? kNoBlue
                                                                 : kGrey;
  const Triple seen = times(matrix, linear(color));
  return {encoded(seen[0]), encoded(seen[1]), encoded(seen[2]), color.a};
}

float colourDifference(const render::Color& a, const render::Color& b) {
  const Triple x = lab(a), y = lab(b);
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

float leastDifference(ColourVision vision, const std::vector<render::Color>& colors) {
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < colors.size(); ++i)
    for (std::size_t j = i + 1; j < colors.size(); ++j)
      least = std::min(least, colourDifference(seenBy(vision, colors[i]), seenBy(vision, colors[j])));
  return least;
}

float leastStep(ColourVision vision, render::Colormap colormap) {
  constexpr int kSamples = 33, kApart = (kSamples - 1) / 4;
  const auto at = [&](int i) {
    return seenBy(vision, render::sample(colormap, static_cast<float>(i) / (kSamples - 1)));
  };
  float least = std::numeric_limits<float>::infinity();
  for (int i = 0; i < kSamples; ++i)
    for (int j = i + kApart; j < kSamples; ++j) least = std::min(least, colourDifference(at(i), at(j)));
  return least;
}

}  // namespace headscope::app
