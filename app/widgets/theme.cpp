#include "app/widgets/theme.h"

#include <cmath>

namespace headscope::app {

namespace {

constexpr std::uint32_t rgb(std::uint32_t hex) {
  return 0xFF000000u | ((hex & 0xFF) << 16) | (hex & 0xFF00) | (hex >> 16);
}

constexpr int channel(std::uint32_t color, int index) {
  return static_cast<int>((color >> (8 * index)) & 0xFF);
}

}  // namespace

const Theme& darkTheme() {
  static const Theme theme{.light = false,
                           .background = rgb(0x0d1015),
                           .panel = rgb(0x141920),
                           .raised = rgb(0x1b222b),
                           .line = rgb(0x262f3a),
                           .text = rgb(0xe8ecf1),
                           .secondary = rgb(0x93a0af),
                           .faint = rgb(0x7d8997),
                           .query = rgb(0xff9f45),
                           .key = rgb(0x4cb8ff),
                           .value = rgb(0x5fd38d),
                           .error = rgb(0xff6b6b),
                           .warning = rgb(0xf2c14e),
                           .knob = rgb(0xe8ecf1),
                           .groups = {rgb(0xb48cff), rgb(0x4fd6c8), rgb(0xf2c14e), rgb(0xff8fb1),
                                      rgb(0x9fb8ff), rgb(0xb5d86a), rgb(0xe3a27f), rgb(0xc9c9d4)}};
  return theme;
}

const Theme& lightTheme() {
  static const Theme theme{.light = true,
                           .background = rgb(0xffffff),
                           .panel = rgb(0xf6f7f9),
                           .raised = rgb(0xeceff3),
                           .line = rgb(0xd9dee5),
                           .text = rgb(0x12161c),
                           .secondary = rgb(0x4d5866),
                           .faint = rgb(0x616c79),
                           .query = rgb(0xad5400),
                           .key = rgb(0x0b6bc2),
                           .value = rgb(0x17753f),
                           .error = rgb(0xc62828),
                           .warning = rgb(0x8a5a00),
                           .knob = rgb(0xffffff),
                           .groups = {rgb(0x6b3fd4), rgb(0x086b61), rgb(0x7a5800), rgb(0xa52a55),
                                      rgb(0x3355b8), rgb(0x4a6b0a), rgb(0x95502a), rgb(0x5b5b68)}};
  return theme;
}

const Theme& strongTheme(bool light) {
  static const Theme onDark{.light = false,
                            .background = rgb(0x000000),
                            .panel = rgb(0x0a0d11),
                            .raised = rgb(0x12171d),
                            .line = rgb(0x3a4653),
                            .text = rgb(0xf4f7fa),
                            .secondary = rgb(0xb6bec9),
                            .faint = rgb(0xa3abb5),
                            .query = rgb(0xff9f45),
                            .key = rgb(0x5abeff),
                            .value = rgb(0x5fd38d),
                            .error = rgb(0xff8686),
                            .warning = rgb(0xf2c14e),
                            .knob = rgb(0xffffff),
                            .groups = {rgb(0xd4bcff), rgb(0x4fd6c8), rgb(0xf2c14e), rgb(0xffacc5),
                                       rgb(0xb4c8ff), rgb(0xb5d86a), rgb(0xeab594), rgb(0xc9c9d4)}};
  static const Theme onLight{.light = true,
                             .background = rgb(0xffffff),
                             .panel = rgb(0xffffff),
                             .raised = rgb(0xf2f4f7),
                             .line = rgb(0xb9c1cb),
                             .text = rgb(0x06080b),
                             .secondary = rgb(0x38404a),
                             .faint = rgb(0x454d57),
                             .query = rgb(0x763900),
                             .key = rgb(0x084d8c),
                             .value = rgb(0x115830),
                             .error = rgb(0x941e1e),
                             .warning = rgb(0x6a4500),
                             .knob = rgb(0xffffff),
                             .groups = {rgb(0x5733ac), rgb(0x07564e), rgb(0x644800), rgb(0x8c2349),
                                        rgb(0x2a479a), rgb(0x3b5408), rgb(0x743e21), rgb(0x4b4b56)}};
  return light ? onLight : onDark;
}

std::uint32_t groupColor(const Theme& theme, std::int64_t kvHead) {
  return theme.groups[static_cast<std::size_t>(kvHead) % theme.groups.size()];
}

std::uint32_t faded(std::uint32_t color, float alpha) {
  const auto a = static_cast<std::uint32_t>(std::lround(static_cast<float>(color >> 24) * alpha));
  return (color & 0x00FFFFFFu) | (a << 24);
}

std::uint32_t mixed(std::uint32_t a, std::uint32_t b, float share) {
  const float t = share > 0 ? std::min(share, 1.0f) : 0;  // maps NaN to 0
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const float value = static_cast<float>(channel(a, i)) * (1 - t) + static_cast<float>(channel(b, i)) * t;
    out |= static_cast<std::uint32_t>(std::lround(value)) << (8 * i);
  }
  return out;
}

std::uint32_t packed(const render::Color& color) {
  const auto byte = [](float v) {
    return static_cast<std::uint32_t>(std::lround(std::fmin(std::fmax(v, 0), 1) * 255));
  };
  return byte(color.r) | (byte(color.g) << 8) | (byte(color.b) << 16) | (byte(color.a) << 24);
}

render::Color unpacked(std::uint32_t color) {
  const auto part = [&](int index) { return static_cast<float>(channel(color, index)) / 255; };
  return {part(0), part(1), part(2), part(3)};
}

float luminance(const render::Color& color) {
  const auto linear = [](float v) {
    return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
  };
  return 0.2126f * linear(color.r) + 0.7152f * linear(color.g) + 0.0722f * linear(color.b);
}

std::uint32_t inkOn(const render::Color& color) {
  // Black and white are equal at 4.58:1, so one of them reaches 4.5:1 on every tone.
  return luminance(color) > 0.179f ? rgb(0x000000) : rgb(0xffffff);
}

}  // namespace headscope::app
