#include "app/widgets/drawing_paint.h"

#include <algorithm>

#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

std::uint32_t colorOf(const render::Color& color) {
  return ImGui::ColorConvertFloat4ToU32(ImVec4(color.r, color.g, color.b, color.a));
}

ImFont* fontOf(const Fonts& fonts, const TextRun& text, float zoom) {
  const double size = text.size * static_cast<double>(zoom);
  if (text.mono)
    return size >= 21     ? fonts.monoHero
           : size >= 16.5 ? fonts.monoTitle
           : size >= 14   ? fonts.mono
                          : fonts.monoSmall;
  if (size >= 20) return fonts.hero;
  if (size >= 16.5) return text.bold ? fonts.title : fonts.reading;
  if (size >= 14) return text.bold ? fonts.bold : fonts.text;
  return text.bold ? fonts.smallBold : fonts.small;
}

/// Paints one shape at a time.
struct Painter {
  const View& view;
  Canvas list;
  ImVec2 origin;
  float zoom = 1;

  ImVec2 place(double x, double y) const {
    return {origin.x + view.px(static_cast<float>(x) * zoom),
            origin.y + view.px(static_cast<float>(y) * zoom)};
  }

  void operator()(const TextRun& text) const {
    ImFont* const font = fontOf(*view.fonts, text, zoom);
    const ImVec2 at = place(text.x, text.y);
    if (text.degrees != 0)  // turned labels end at their position
      return paintRotated(list, font, at, static_cast<float>(-text.degrees), colorOf(text.color), text.text);
    const Align align = text.anchor == Anchor::start    ? Align::left
                        : text.anchor == Anchor::middle ? Align::center
                                                        : Align::right;
    paintText(list, font, at, colorOf(text.color), text.text, align);
  }
  void operator()(const Box& box) const {
    const ImVec2 from = place(box.frame.x, box.frame.y), to = place(box.frame.right(), box.frame.bottom());
    if (box.outline > 0)
      compat::rectOutline(list, from, to, colorOf(box.color), view.px(static_cast<float>(box.radius) * zoom),
                          std::max(1.0f, view.px(static_cast<float>(box.outline) * zoom)));
    else
      list.AddRectFilled(from, to, colorOf(box.color), view.px(static_cast<float>(box.radius) * zoom));
  }
  void operator()(const Line& line) const {
    list.AddLine(place(line.x0, line.y0), place(line.x1, line.y1), colorOf(line.color),
                 std::max(1.0f, view.px(static_cast<float>(line.width) * zoom)));
  }
  void operator()(const Polyline& line) const {
    for (std::size_t i = 1; i < line.points.size(); ++i)
      list.AddLine(place(line.points[i - 1].x, line.points[i - 1].y),
                   place(line.points[i].x, line.points[i].y), colorOf(line.color),
                   std::max(1.0f, view.px(static_cast<float>(line.width) * zoom)));
  }
  void operator()(const Ramp& ramp) const {
    constexpr int kSteps = 48;
    for (int i = 0; i < kSteps; ++i) {
      const auto share = (static_cast<float>(i) + 0.5f) / kSteps;
      const double from = ramp.upwards ? ramp.frame.bottom() - ramp.frame.height * (i + 1) / kSteps
                                       : ramp.frame.x + ramp.frame.width * i / kSteps;
      const render::Color color =
          cellColor(ramp.style, ramp.style.low + share * (ramp.style.high - ramp.style.low));
      const Frame part = ramp.upwards
                             ? Frame{ramp.frame.x, from, ramp.frame.width, ramp.frame.height / kSteps + 0.5}
                             : Frame{from, ramp.frame.y, ramp.frame.width / kSteps + 0.5, ramp.frame.height};
      (*this)(Box{part, color});
    }
  }
  void operator()(const Area&) const {}
  void operator()(const Clip&) const {}
  void operator()(const Cells&) const {}
  void operator()(const Swatch&) const {}
};

}  // namespace

void paintDrawing(const View& view, Canvas list, const Drawing& drawing, ImVec2 at, float zoom) {
  const Painter painter{view, list, at, zoom};
  for (const Shape& shape : drawing.shapes) std::visit(painter, shape);
}

DrawingColors drawingColors(const Theme& theme) {
  DrawingColors colors{unpacked(theme.background),
                       unpacked(theme.panel),
                       unpacked(theme.raised),
                       unpacked(theme.line),
                       unpacked(theme.text),
                       unpacked(theme.secondary),
                       unpacked(theme.faint),
                       unpacked(theme.query),
                       unpacked(theme.key),
                       unpacked(theme.value),
                       {}};
  for (std::size_t i = 0; i < colors.groups.size(); ++i) colors.groups[i] = unpacked(theme.groups[i]);
  return colors;
}

}  // namespace headscope::app
