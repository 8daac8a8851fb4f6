#include "app/compute/figures/drawing.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

void move(TextRun& text, double x, double y) {
  text.x += x;
  text.y += y;
}
void move(Line& line, double x, double y) {
  line.x0 += x;
  line.x1 += x;
  line.y0 += y;
  line.y1 += y;
}
void move(std::vector<Polyline::Point>& points, double x, double y) {
  for (Polyline::Point& point : points) {
    point.x += x;
    point.y += y;
  }
}
void move(Polyline& line, double x, double y) {
  move(line.points, x, y);
}
void move(Area& area, double x, double y) {
  for (auto& ring : area.rings) move(ring, x, y);
}
void move(Clip& clip, double x, double y) {
  if (!clip.frame) return;
  clip.frame->x += x;
  clip.frame->y += y;
}
template <typename Framed>
void move(Framed& shape, double x, double y) {
  shape.frame.x += x;
  shape.frame.y += y;
}

}  // namespace

void Drawing::add(const Drawing& other, double x, double y) {
  for (Shape shape : other.shapes) {
    std::visit([&](auto& each) { move(each, x, y); }, shape);
    shapes.push_back(std::move(shape));
  }
  width = std::max(width, x + other.width);
  height = std::max(height, y + other.height);
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

render::Color inkOver(const render::Color& color) {
  const auto linear = [](float v) {
    return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
  };
  const float luminance = 0.2126f * linear(color.r) + 0.7152f * linear(color.g) + 0.0722f * linear(color.b);
  return luminance > 0.18f ? render::Color{0.04f, 0.05f, 0.07f, 1} : render::Color{1, 1, 1, 1};
}

}  // namespace headscope::app
