#include "app/widgets/plot.h"

#include "app/platform/track.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// A mapping from plot values to the screen.
struct PlotPlace {
  ImRect cells;
  const Plot& plot;

  float x(double value) const {
    return cells.Min.x + static_cast<float>(std::clamp(plot.x.share(value), -4.0, 5.0)) * cells.GetWidth();
  }
  float y(double value) const {
    return cells.Max.y - static_cast<float>(std::clamp(plot.y.share(value), -4.0, 5.0)) * cells.GetHeight();
  }
  ImVec2 at(const PlotPoint& point) const { return {x(point.x), y(point.y)}; }
};

/// Returns the lengths drawn and left out in turn, in layout units.
std::array<float, 4> patternOf(Dash dash) {
  if (dash == Dash::dashed) return {7, 5, 7, 5};
  if (dash == Dash::dotted) return {2, 4, 2, 4};
  return {9, 4, 2, 4};
}

void paintTicks(const View& view, Canvas list, const PlotPlace& place) {
  const Theme& theme = *view.theme;
  ImFont* font = view.fonts->mono;
  const ImRect& cells = place.cells;
  const float half = lineHeight(font) / 2;
  float lastEnd = -1e9f, lastTop = 1e9f;
  for (const PlotTick& tick : place.plot.x.ticks) {
    const float x = std::round(place.x(tick.value));
    list.AddLine(ImVec2(x, cells.Min.y), ImVec2(x, cells.Max.y),
                 faded(theme.line, tick.label.empty() ? 0.25f : 0.7f));
    const float width = textWidth(font, tick.label);
    if (tick.label.empty() || x - width / 2 < lastEnd + view.px(10)) continue;
    paintText(list, tick.label.starts_with("10") && tick.label.size() > 4 ? view.fonts->text : font,
              ImVec2(x, cells.Max.y + view.px(16)), theme.secondary, tick.label, Align::center);
    lastEnd = x + width / 2;
  }
  for (const PlotTick& tick : place.plot.y.ticks) {
    const float y = std::round(place.y(tick.value));
    list.AddLine(ImVec2(cells.Min.x, y), ImVec2(cells.Max.x, y),
                 faded(theme.line, tick.label.empty() ? 0.25f : 0.7f));
    if (tick.label.empty() || y + half > lastTop - view.px(3)) continue;
    // A monospaced font would make raised digits too wide.
    paintText(list, tick.label.starts_with("10") && tick.label.size() > 3 ? view.fonts->text : font,
              ImVec2(cells.Min.x - view.px(10), y), theme.secondary, tick.label, Align::right);
    lastTop = y - half;
  }
  list.AddLine(ImVec2(cells.Min.x, cells.Max.y), cells.Max, theme.secondary);
  paintText(list, view.fonts->text, ImVec2(cells.Max.x, cells.Max.y + view.px(37)), theme.secondary,
            place.plot.x.title, Align::right);
}

/// Returns the line's points between two x values, in pixels.
std::vector<ImVec2> stretch(const PlotPlace& place, const PlotLine& line, double from, double to) {
  std::vector<ImVec2> points;
  const auto add = [&](double x) {
    if (const auto y = line.at(x, place.plot.x, place.plot.y)) points.push_back(place.at({x, *y}));
  };
  if (line.points.empty()) return points;
  from = std::max(from, line.points.front().x);
  to = std::min(to, line.points.back().x);
  if (from >= to) return points;
  add(from);
  for (const PlotPoint& point : line.points)
    if (point.x > from && point.x < to) points.push_back(place.at(point));
  add(to);
  return points;
}

/// Returns the colour of a line or of its name.
template <typename Shown>
std::uint32_t colorOf(const Theme& theme, const Shown& line) {
  return line.wrong ? theme.error : line.chosen ? theme.text : theme.secondary;
}

void paintLine(const View& view, Canvas list, const PlotPlace& place, const PlotLine& line) {
  const std::uint32_t color = colorOf(*view.theme, line);
  const float thick = view.px(line.chosen ? 3.5f : 1.6f);
  const double from = place.plot.x.low, to = place.plot.x.high;
  const double turn = std::clamp(line.dashedFrom, from, to);
  paintDashed(list, stretch(place, line, from, turn), line.dash, color, thick, view.unit);
  paintDashed(list, stretch(place, line, turn, to), line.dash == Dash::solid ? Dash::dashed : line.dash,
              color, thick, view.unit);
}

void paintEnds(const View& view, Canvas list, const std::vector<EndLabel>& ends, float right) {
  for (const EndLabel& end : ends) {
    const ImVec2 at(static_cast<float>(end.x), static_cast<float>(end.y));
    paintFitted(view, list, end.chosen ? view.fonts->bold : view.fonts->text, at, right - at.x,
                colorOf(*view.theme, end), end.text);
  }
}

/// Counts the lines and marks near a label.
int linesNear(const PlotPlace& place, float middle, float y, float half, float reach) {
  int near = 0;
  for (const float x : {middle - half, middle, middle + half}) {
    const double value =
        place.plot.x.valueAt(static_cast<double>((x - place.cells.Min.x) / place.cells.GetWidth()));
    for (const PlotLine& line : place.plot.lines)
      if (const auto at = line.at(value, place.plot.x, place.plot.y);
          at && std::abs(place.y(*at) - y) < reach)
        ++near;
  }
  for (const PlotMark& mark : place.plot.marks)
    if (std::abs(place.x(mark.at.x) - middle) < half + 2 * reach &&
        std::abs(place.y(mark.at.y) - y) < 2 * reach)
      ++near;
  return near;
}

void paintRules(const View& view, Canvas list, const PlotPlace& place) {
  const Theme& theme = *view.theme;
  const ImRect& cells = place.cells;
  for (const PlotRule& rule : place.plot.rules) {
    const double share = rule.vertical ? place.plot.x.share(rule.value) : place.plot.y.share(rule.value);
    if (share < 0 || share > 1) continue;
    if (rule.vertical) {
      const float x = std::round(place.x(rule.value));
      list.AddLine(ImVec2(x, cells.Min.y), ImVec2(x, cells.Max.y), faded(theme.secondary, 0.6f));
      continue;
    }
    const float y = std::round(place.y(rule.value));
    paintDashed(list, {ImVec2(cells.Min.x, y), ImVec2(cells.Max.x, y)}, Dash::dotted, theme.faint, 1,
                view.unit);
    const float width = textWidth(view.fonts->small, rule.label), left = cells.Min.x + view.px(6);
    const float right = cells.Max.x - view.px(6) - width, labelY = y - view.px(9);
    const bool atRight = linesNear(place, right + width / 2, labelY, width / 2, view.px(10)) <
                         linesNear(place, left + width / 2, labelY, width / 2, view.px(10));
    paintText(list, view.fonts->small, ImVec2(atRight ? right : left, labelY), theme.secondary, rule.label);
  }
}

ImFont* fontOf(const View& view, const PlotMark& mark) {
  return mark.bold ? view.fonts->bold : view.fonts->mono;
}

LabelSize sizeOf(const View& view, const PlotMark& mark, float line) {
  const float width =
      std::max(textWidth(fontOf(view, mark), mark.label), textWidth(view.fonts->mono, mark.more));
  return {width, mark.more.empty() ? line : 2 * line};
}

void paintMark(const View& view, Canvas list, ImVec2 at, const PlotMark& mark) {
  const Theme& theme = *view.theme;
  if (mark.chosen) {
    list.AddCircleFilled(at, view.px(7), theme.text, 24);
    list.AddCircleFilled(at, view.px(4.2f), theme.background, 24);
  } else {
    list.AddCircleFilled(at, view.px(4), theme.secondary, 16);
  }
}

void paintMarkLabel(const View& view, Canvas list, const PlotMark& mark, const LabelPlace& place,
                    float line) {
  const Theme& theme = *view.theme;
  auto y = static_cast<float>(place.y);
  const auto paint = [&](ImFont* font, const std::string& text, std::uint32_t color) {
    const float width = textWidth(font, text), left = static_cast<float>(place.x - place.share * width);
    // Keeps a line below the label from striking it through.
    list.AddRectFilled(ImVec2(left - view.px(2), y - line / 2),
                       ImVec2(left + width + view.px(2), y + line / 2), faded(theme.background, 0.8f));
    paintText(list, font, ImVec2(left, y), color, text);
    y += line;
  };
  paint(fontOf(view, mark), mark.label, mark.bold || mark.chosen ? theme.text : theme.secondary);
  if (!mark.more.empty()) paint(view.fonts->mono, mark.more, theme.secondary);
}

/// Paints a vertical line at x, and next to it the value of every plot line there.
void paintHover(const View& view, Canvas list, const PlotPlace& place, double x) {
  const Theme& theme = *view.theme;
  const float at = place.x(x);
  list.AddLine(ImVec2(at, place.cells.Min.y), ImVec2(at, place.cells.Max.y), theme.text);
  struct Row {
    std::string value, label;
    bool chosen;
    double y;
  };
  std::vector<Row> rows;
  for (const PlotLine& line : place.plot.lines)
    if (const auto y = line.at(x, place.plot.x, place.plot.y); y && std::isfinite(*y)) {
      rows.push_back({place.plot.value ? place.plot.value(*y) : "", line.label, line.chosen, *y});
      list.AddCircleFilled(place.at({x, *y}), view.px(3.5f), line.chosen ? theme.text : theme.secondary, 16);
    }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.y > b.y; });
  const float line = view.px(20), pad = view.px(10);
  const std::string title = place.plot.place ? place.plot.place(x) : "";
  float width = textWidth(view.fonts->bold, title);
  for (const Row& row : rows)
    width = std::max(
        width, textWidth(view.fonts->mono, row.value) + view.px(14) + textWidth(view.fonts->text, row.label));
  const ImVec2 size(width + 2 * pad, line * static_cast<float>(rows.size() + 1) + 2 * view.px(7));
  Canvas over = *ImGui::GetForegroundDrawList();
  const float right = ImGui::GetIO().DisplaySize.x - view.px(8);
  float left = at + view.px(14);
  if (left + size.x > right) left = at - view.px(14) - size.x;
  const ImVec2 from(left, place.cells.Min.y + view.px(4)), to(left + size.x, from.y + size.y);
  over.AddRectFilled(from, to, theme.raised, view.px(6));
  compat::rectOutline(over, from, to, theme.line, view.px(6), 1);
  float y = from.y + view.px(7) + line / 2;
  paintText(over, view.fonts->bold, ImVec2(from.x + pad, y), theme.text, title);
  for (const Row& row : rows) {
    y += line;
    paintText(over, view.fonts->mono, ImVec2(from.x + pad, y), row.chosen ? theme.text : theme.secondary,
              row.value);
    paintText(over, row.chosen ? view.fonts->bold : view.fonts->text, ImVec2(to.x - pad, y),
              row.chosen ? theme.text : theme.secondary, row.label, Align::right);
  }
}

/// Paints the line names up to `right`, the marks and their labels.
void paintWords(const View& view, Canvas list, const PlotPlace& place, float right) {
  const Plot& plot = place.plot;
  const ImRect& cells = place.cells;
  const PlotCells drawn{cells.Min.x, cells.Min.y, cells.GetWidth(), cells.GetHeight()};
  const float line = lineHeight(view.fonts->text) * 1.12f;
  const std::vector<EndLabel> ends = endLabels(plot, drawn, line, view.px(8));
  paintEnds(view, list, ends, right);
  std::vector<LabelSize> sizes;
  for (const PlotMark& mark : plot.marks) sizes.push_back(sizeOf(view, mark, line));
  const auto labels = markLabels(plot, drawn, sizes, line, view.px(13), ends);
  // Labels are painted below the marks, since a label may be near another's mark.
  const auto isShown = [&](const PlotMark& mark) {
    return cells.Contains(place.at(mark.at)) || plot.x.share(mark.at.x) == 1;
  };
  for (std::size_t i = 0; i < plot.marks.size(); ++i)
    if (labels[i] && !plot.marks[i].label.empty() && isShown(plot.marks[i]))
      paintMarkLabel(view, list, plot.marks[i], *labels[i], line);
  for (const PlotMark& mark : plot.marks)
    if (isShown(mark)) paintMark(view, list, place.at(mark.at), mark);
}

}  // namespace

void paintDashed(Canvas list, const std::vector<ImVec2>& points, Dash dash, std::uint32_t color,
                 float thickness, float unit) {
  if (points.size() < 2) return;
  if (dash == Dash::solid) {
    list.AddPolyline(points.data(), static_cast<int>(points.size()), color, ImDrawFlags_None, thickness);
    return;
  }
  std::array<float, 4> pattern = patternOf(dash);
  for (float& length : pattern) length *= unit * std::max(1.0f, thickness / (2.2f * unit));
  std::size_t part = 0;
  float left = pattern[0];
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    ImVec2 from = points[i];
    const ImVec2 to = points[i + 1];
    float length = std::hypot(to.x - from.x, to.y - from.y);
    if (!compat::isPlace(from) || !compat::isPlace(to)) continue;
    for (int pieces = 0; length > 1e-3f && pieces < kMaxPlaces; ++pieces) {
      const float piece = std::min(left, length);
      const ImVec2 end(from.x + (to.x - from.x) * piece / length, from.y + (to.y - from.y) * piece / length);
      if (part % 2 == 0) list.AddLine(from, end, color, thickness);
      from = end;
      length -= piece;
      if ((left -= piece) <= 1e-4f) left = pattern[++part % 4];
    }
  }
}

std::optional<double> drawPlot(const View& view, const std::string& name, const ImRect& area,
                               const Plot& plot, std::optional<double> lit) {
  Canvas list = *ImGui::GetWindowDrawList();
  float ticks = 0;
  for (const PlotTick& tick : plot.y.ticks) ticks = std::max(ticks, textWidth(view.fonts->mono, tick.label));
  const PlotPlace place{ImRect(area.Min.x + ticks + view.px(12), area.Min.y + view.px(8),
                               area.Max.x - view.px(plot.labelRoom), area.Max.y - view.px(48)),
                        plot};
  if (place.cells.GetWidth() < view.px(60) || place.cells.GetHeight() < view.px(40)) return std::nullopt;
  track(name, place.cells.Min, place.cells.Max);
  paintTicks(view, list, place);
  paintRules(view, list, place);
  list.PushClipRect(place.cells.Min, ImVec2(place.cells.Max.x + view.px(1), place.cells.Max.y + view.px(1)),
                    true);
  for (const bool chosen : {false, true})
    for (const PlotLine& line : plot.lines)
      if (line.chosen == chosen) paintLine(view, list, place, line);
  list.PopClipRect();
  paintWords(view, list, place, area.Max.x);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<double> pointed;
  if (ImGui::IsWindowHovered() && place.cells.Contains(mouse))
    pointed = plot.x.valueAt(static_cast<double>((mouse.x - place.cells.Min.x) / place.cells.GetWidth()));
  const std::optional<double> shown = pointed ? pointed : lit;
  if (shown && plot.x.share(*shown) >= 0 && plot.x.share(*shown) <= 1 && plot.value)
    paintHover(view, list, place, *shown);
  return pointed;
}

}  // namespace headscope::app
