#include "render/heatmap_lookup.h"

#include <algorithm>
#include <cmath>

namespace headscope::render {
namespace {

/// Returns `ground` covered by `amount` of `ink`, opaque.
Color over(const Color& ground, const Color& ink, float amount) {
  return {std::lerp(ground.r, ink.r, amount), std::lerp(ground.g, ink.g, amount),
          std::lerp(ground.b, ink.b, amount), 1};
}

Color tinted(const Tint& tint, float along) {
  if (!tint.middle) return over(tint.low, tint.high, along);
  return along < 0.5f ? over(tint.low, *tint.middle, 2 * along)
                      : over(*tint.middle, tint.high, 2 * along - 1);
}

int spacingOf(const HeatmapStyle& style) {
  constexpr float kLeast = 4, kMost = 256;
  return static_cast<int>(std::lround(std::clamp(style.hatchSpacing, kLeast, kMost)));
}

float lineWidth(int spacing) {
  return std::max(static_cast<float>(spacing) / 12, 1.0f);
}

}  // namespace

float smoothStep(float from, float to, float x) {
  const float t = std::clamp((x - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

HeatmapLookup::HeatmapLookup(const HeatmapStyle& style, float smallestCell)
    : colormap_(style.colormap),
      tint_(style.tint),
      nan_(style.nan),
      ground_(over(style.background, style.masked, style.masked.a)),
      maskedLines_(over(ground_, style.maskedHatch, style.maskedHatch.a)),
      deadLines_(over(ground_, style.deadHatch, style.deadHatch.a)) {
  const int spacing = spacingOf(style);
  const auto between = static_cast<float>(spacing);
  lines_ =
      smoothStep(0.75f, 1.5f, smallestCell / between);  // below about one line per cell they look like noise
  tone_ = lineWidth(spacing) * std::sqrt(2.0f) / between;
  period_ = lines_ > 0 ? spacing : 1;
}

/// How much of a pixel a line covers, by the pixel's place between two lines.
float HeatmapLookup::lineAt(int place) const {
  const auto period = static_cast<float>(period_);
  const float along = std::abs(static_cast<float>(place) - 0.5f * period);
  return std::clamp(0.5f * lineWidth(period_) + 0.5f - along * std::sqrt(0.5f), 0.0f, 1.0f);
}

Color HeatmapLookup::mixed(const Color& lines, float line, float tone) const {
  return over(ground_, lines, std::lerp(tone, line, lines_));
}

std::vector<std::uint8_t> HeatmapLookup::texels() const {
  std::vector<std::uint8_t> texels(4 * static_cast<std::size_t>(rows()) *
                                   static_cast<std::size_t>(columns()));
  const auto set = [&](int row, int column, const Color& color) {
    auto* texel = texels.data() + 4 * (static_cast<std::ptrdiff_t>(row) * columns() + column);
    for (const float channel : {color.r, color.g, color.b, 1.0f})
      *texel++ = static_cast<std::uint8_t>(std::lround(std::clamp(channel, 0.0f, 1.0f) * 255));
  };
  if (tint_) {
    for (int i = 0; i < 256; ++i) set(0, i, tinted(*tint_, static_cast<float>(i) / 255));
  } else {
    const auto colors = table(colormap_);
    std::copy(colors.begin(), colors.end(), texels.begin());
  }
  set(1, 0, nan_);
  const float deadTone = 1 - (1 - tone_) * (1 - tone_);
  for (int falling = 0; falling < period_; ++falling) {
    const float line = lineAt(falling);
    set(period_, 256 + falling, mixed(maskedLines_, line, tone_));
    for (int rising = 0; rising < period_; ++rising)
      set(rising, 256 + falling, mixed(deadLines_, std::max(line, lineAt(rising)), deadTone));
  }
  return texels;
}

}  // namespace headscope::render
