#include "app/compute/figures/drawing.h"

#include "attention/core/extremes.h"

namespace headscope::app {

namespace {

/// The placement of a shape: scaled, then moved.
struct Placing {
  double x = 0, y = 0, scale = 1;

  void point(double& atX, double& atY) const {
    atX = x + atX * scale;
    atY = y + atY * scale;
  }
  void frame(Frame& frame) const {
    point(frame.x, frame.y);
    frame.width *= scale;
    frame.height *= scale;
  }
  void points(std::vector<Polyline::Point>& points) const {
    for (Polyline::Point& each : points) point(each.x, each.y);
  }
};

void place(TextRun& text, const Placing& to) {
  to.point(text.x, text.y);
  text.size *= to.scale;
  text.spacing *= to.scale;
}
void place(Box& box, const Placing& to) {
  to.frame(box.frame);
  box.outline *= to.scale;
  box.radius *= to.scale;
}
void place(Line& line, const Placing& to) {
  to.point(line.x0, line.y0);
  to.point(line.x1, line.y1);
  line.width *= to.scale;
}
void place(Polyline& line, const Placing& to) {
  to.points(line.points);
  line.width *= to.scale;
  for (double& dash : line.dashes) dash *= to.scale;
}
void place(Area& area, const Placing& to) {
  for (auto& ring : area.rings) to.points(ring);
}
void place(Clip& clip, const Placing& to) {
  if (clip.frame) to.frame(*clip.frame);
}
/// Places cells and colour scales.
template <typename Styled>
void place(Styled& shape, const Placing& to) {
  to.frame(shape.frame);
  shape.style.gap *= static_cast<float>(to.scale);
  shape.style.hatchSpacing *= static_cast<float>(to.scale);
}

}  // namespace

void Drawing::add(const Drawing& other, double x, double y, double scale) {
  for (Shape shape : other.shapes) {
    std::visit([&](auto& each) { place(each, Placing{x, y, scale}); }, shape);
    shapes.push_back(std::move(shape));
  }
  width = std::max(width, x + other.width * scale);
  height = std::max(height, y + other.height * scale);
}

Drawing stacked(const std::vector<Drawing>& drawings) {
  Drawing page;
  for (const Drawing& drawing : drawings) {
    if (&drawing == &drawings.front()) page.background = drawing.background;
    page.title += (page.title.empty() ? "" : "; ") + drawing.title;
    page.add(drawing, 0, page.height);
  }
  return page;
}

Drawing fittedTo(const Drawing& drawing, double aspect) {
  Drawing page;
  page.title = drawing.title;
  page.background = drawing.background;
  page.width = std::max(drawing.width, drawing.height * aspect);
  page.height = std::max(drawing.height, drawing.width / aspect);
  page.add(drawing, (page.width - drawing.width) / 2, (page.height - drawing.height) / 2);
  return page;
}

render::Color mixedColor(const render::Color& a, const render::Color& b, float t) {
  return {std::lerp(a.r, b.r, t), std::lerp(a.g, b.g, t), std::lerp(a.b, b.b, t), std::lerp(a.a, b.a, t)};
}

render::Color cellColor(const render::HeatmapStyle& style, float value) {
  if (value == render::kMaskedCell) {
    const float alpha = style.masked.a;
    render::Color over = mixedColor(style.background, style.masked, alpha);
    over.a = 1;
    return over;
  }
  if (value == render::kDeadCell) return style.background;
  if (!std::isfinite(value)) return style.nan;
  const float t = style.logarithmic
                      ? std::log(std::max(value, style.low) / style.low) / std::log(style.high / style.low)
                      : (value - style.low) / (style.high - style.low);
  if (style.tint) {
    const float along = std::clamp(t, 0.0f, 1.0f);
    if (!style.tint->middle) return mixedColor(style.tint->low, style.tint->high, along);
    return along < 0.5f ? mixedColor(style.tint->low, *style.tint->middle, 2 * along)
                        : mixedColor(*style.tint->middle, style.tint->high, 2 * along - 1);
  }
  return render::sample(style.colormap, t);
}

bool anyIs(const attention::Matrix& values, float mark) {
  return std::find(values.data(), values.data() + values.size(), mark) != values.data() + values.size();
}

using render::Color;

namespace {

// The width of a column relative to the font size: exact for JetBrains Mono and DejaVu Sans Mono, an average
// for Inter.
constexpr double kMonoColumn = 0.6, kSansColumn = 0.53;

}  // namespace

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

std::string legibleText(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const attention::DecodedCodePoint next = attention::decodeUtf8(text, at);
    at += next.length;
    const bool allowed = !next.fault && !attention::isControl(next.value) && (next.value & 0xFFFE) != 0xFFFE;
    attention::appendUtf8(allowed ? next.value : U'\uFFFD', out);
  }
  return out;
}

using attention::Index;
using attention::Matrix;
using render::HeatmapStyle;

namespace {

/// Limits in pixels: along a side of a cell, and along an image's longer side.
constexpr Index kCellPixels = 4, kImageSide = 4096;
constexpr Index kMostRectangles = 6000;

/// Draws repeat × repeat pixels per cell.
render::Image imageOf(const Matrix& values, const HeatmapStyle& style, Index repeat) {
  render::Image image{static_cast<int>(values.cols() * repeat), static_cast<int>(values.rows() * repeat), {}};
  image.rgba.reserve(4 * static_cast<std::size_t>(values.size() * repeat * repeat));
  for (Index row = 0; row < values.rows(); ++row) {
    const std::size_t begin = image.rgba.size();
    for (Index col = 0; col < values.cols(); ++col) {
      const Color color = cellColor(style, values(row, col));
      const auto byte = [](float part) { return static_cast<std::uint8_t>(std::lround(part * 255)); };
      const std::uint8_t alpha = values(row, col) == render::kMaskedCell ? 0 : 255;
      for (Index i = 0; i < repeat; ++i)
        image.rgba.insert(image.rgba.end(), {byte(color.r), byte(color.g), byte(color.b), alpha});
    }
    const std::size_t length = image.rgba.size() - begin;
    for (Index i = 1; i < repeat; ++i) {
      image.rgba.resize(image.rgba.size() + length);
      std::copy_n(image.rgba.begin() + static_cast<std::ptrdiff_t>(begin), length,
                  image.rgba.end() - static_cast<std::ptrdiff_t>(length));
    }
  }
  return image;
}

}  // namespace

bool drawsRectangles(const Drawing& drawing) {
  Index count = 0;
  for (const Shape& shape : drawing.shapes)
    if (const Cells* cells = std::get_if<Cells>(&shape)) count += cells->values.size();
  return count <= kMostRectangles;
}

CellImage cellImage(const Cells& cells, double pixelsPerUnit) {
  // Pixels of the page per cell.
  const double pixels =
      pixelsPerUnit * std::min(cells.frame.width / static_cast<double>(cells.values.cols()),
                               cells.frame.height / static_cast<double>(cells.values.rows()));
  const bool known = pixelsPerUnit > 0;
  const auto factor = static_cast<Index>(known && pixels < 1 ? std::ceil(1 / pixels - 1e-3) : 1);
  CellImage out{attention::maxPooled(cells.values, factor), {}};
  // Viewers smooth enlarged images: many pixels per cell keep its edges sharp.
  const Index longer = std::max(out.values.rows(), out.values.cols());
  const double wanted = known ? std::ceil(pixels * static_cast<double>(factor) - 1e-3) : kCellPixels;
  const Index repeat =
      std::clamp<Index>(std::min(static_cast<Index>(wanted), kImageSide / longer), 1, kCellPixels);
  out.image = imageOf(out.values, cells.style, repeat);
  return out;
}

std::vector<Color> rampColors(const HeatmapStyle& style, int count) {
  HeatmapStyle even = style;
  even.low = 0;
  even.high = 1;
  even.logarithmic = false;
  std::vector<Color> colors;
  for (int i = 0; i < count; ++i)
    colors.push_back(cellColor(even, static_cast<float>(i) / static_cast<float>(count - 1)));
  return colors;
}

}  // namespace headscope::app
