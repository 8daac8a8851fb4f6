#include "app/compute/figures/drawing.h"

#include <algorithm>
#include <cmath>

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
/// Places cells and samples of their colours.
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

render::Color inkOver(const render::Color& color) {
  const auto linear = [](float v) {
    return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
  };
  const float luminance = 0.2126f * linear(color.r) + 0.7152f * linear(color.g) + 0.0722f * linear(color.b);
  return luminance > 0.18f ? render::Color{0.04f, 0.05f, 0.07f, 1} : render::Color{1, 1, 1, 1};
}

}  // namespace headscope::app
