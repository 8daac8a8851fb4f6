#include "app/compute/figures/drawing_parts.h"

#include <algorithm>
#include <cmath>

#include "attention/text/unicode.h"

namespace headscope::app {

using render::Color;

namespace {

constexpr Color colorOf(std::uint32_t hex) {
  const auto part = [hex](int shift) { return static_cast<float>((hex >> shift) & 0xFF) / 255; };
  return {part(16), part(8), part(0), 1};
}

// The width of a column relative to the font size: exact for JetBrains Mono and DejaVu Sans Mono, an average
// for Inter.
constexpr double kMonoColumn = 0.6, kSansColumn = 0.53;

}  // namespace

const DrawingColors& drawingColors(bool dark) {
  static const DrawingColors light{
      colorOf(0xffffff),
      colorOf(0xf6f7f9),
      colorOf(0xeceff3),
      colorOf(0xd9dee5),
      colorOf(0x12161c),
      colorOf(0x4d5866),
      colorOf(0x616c79),
      colorOf(0xad5400),
      colorOf(0x0b6bc2),
      colorOf(0x17753f),
      {colorOf(0x6b3fd4), colorOf(0x086b61), colorOf(0x7a5800), colorOf(0xa52a55), colorOf(0x3355b8),
       colorOf(0x4a6b0a), colorOf(0x95502a), colorOf(0x5b5b68)}};
  static const DrawingColors darkOnes{
      colorOf(0x0d1015),
      colorOf(0x141920),
      colorOf(0x1b222b),
      colorOf(0x262f3a),
      colorOf(0xe8ecf1),
      colorOf(0x93a0af),
      colorOf(0x7d8997),
      colorOf(0xff9f45),
      colorOf(0x4cb8ff),
      colorOf(0x5fd38d),
      {colorOf(0xb48cff), colorOf(0x4fd6c8), colorOf(0xf2c14e), colorOf(0xff8fb1), colorOf(0x9fb8ff),
       colorOf(0xb5d86a), colorOf(0xe3a27f), colorOf(0xc9c9d4)}};
  return dark ? darkOnes : light;
}

render::HeatmapStyle drawnStyle(const DrawingColors& colors, double gap) {
  render::HeatmapStyle style;
  style.background = colors.background;
  style.masked = mixedColor(colors.background, colors.panel, 0.7f);
  style.maskedHatch = mixedColor(colors.background, colors.line, 0.8f);
  style.deadHatch = colors.faint;
  style.gap = static_cast<float>(gap);
  return style;
}

double drawnWidth(const std::string& text, double size, bool mono) {
  double columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const attention::DecodedCodePoint next = attention::decodeUtf8(text, at);
    columns += static_cast<double>(attention::columnsOf(next.value));
    at += next.length;
  }
  return columns * size * (mono ? kMonoColumn : kSansColumn);
}

std::string cutToColumns(const std::string& text, std::size_t columns) {
  std::size_t used = 0, fits = 0;
  for (std::size_t at = 0; at < text.size();) {
    const attention::DecodedCodePoint next = attention::decodeUtf8(text, at);
    used += attention::columnsOf(next.value);
    at += next.length;
    if (used < columns) fits = at;  // leaves space for the ellipsis
  }
  return used <= columns ? text : text.substr(0, fits) + "…";
}

namespace {

/// Adds a sample cell with its meaning to the right.
void addSwatch(Drawing& drawing, const DrawingColors& colors, const render::HeatmapStyle& style, float value,
               const std::string& word, double x, double y) {
  const Frame sample{x, y - 6, 12, 12};
  drawing.shapes.push_back(Swatch{sample, style, value});
  drawing.shapes.push_back(Box{sample, colors.line, 0.75});
  drawing.shapes.push_back(TextRun{word, x + 18, y, 10.5, colors.secondary});
}

}  // namespace

void addScale(Drawing& drawing, const DrawingColors& colors, const render::HeatmapStyle& style,
              const ColourScale& scale) {
  const double x = scale.x, top = scale.y + 18, height = std::max(24.0, scale.height - 18);
  drawing.shapes.push_back(TextRun{scale.caption, x, scale.y + 4, 10.5, colors.secondary});
  drawing.shapes.push_back(Ramp{{x, top, 12, height}, style});
  const auto label = [&](const std::string& text, double y) {
    if (!text.empty())
      drawing.shapes.push_back(TextRun{text, x + 18, y, 10.5, colors.text, Anchor::start, true});
  };
  label(scale.high, top + 4);
  if (height > 60) label(scale.middle, top + height / 2);
  label(scale.low, top + height - 4);
  double y = top + height + 20;
  if (scale.masked) {
    addSwatch(drawing, colors, style, render::kMaskedCell, "masked", x, y);
    y += 18;
  }
  if (scale.dead) addSwatch(drawing, colors, style, render::kDeadCell, "sees no key", x, y);
}

}  // namespace headscope::app
