#include <algorithm>
#include <cmath>

#include "app/compute/figures/drawing_parts.h"
#include "app/compute/plots/plot_labels.h"

namespace headscope::app {

namespace {

constexpr double kTextSize = 10.5, kNoteSize = 9.5, kLineHeight = 13;

/// A plot's values on the page.
struct Placed {
  Drawing& drawing;
  const DrawingColors& colors;
  Frame cells;
  const Plot& plot;

  double x(double value) const { return cells.x + std::clamp(plot.x.share(value), 0.0, 1.0) * cells.width; }
  double y(double value) const {
    return cells.bottom() - std::clamp(plot.y.share(value), 0.0, 1.0) * cells.height;
  }
  void text(const std::string& words, double atX, double atY, Anchor anchor, const render::Color& color,
            double size = kTextSize, bool mono = false, bool bold = false) const {
    drawing.shapes.push_back(TextRun{words, atX, atY, size, color, anchor, mono, bold});
  }
};

bool isRaised(const PlotTick& tick) {
  return tick.label.starts_with("10") && tick.label.size() > 3;
}

void addTicks(const Placed& at) {
  const Frame& cells = at.cells;
  double lastEnd = -1e9, lastTop = 1e9;
  for (const PlotTick& tick : at.plot.x.ticks) {
    const double x = at.x(tick.value), half = drawnWidth(tick.label, kTextSize, true) / 2;
    at.drawing.shapes.push_back(Line{x, cells.y, x, cells.bottom(), at.colors.line, 0.5});
    if (tick.label.empty() || x - half < lastEnd + 8) continue;
    at.text(tick.label, x, cells.bottom() + 12, Anchor::middle, at.colors.secondary, kTextSize,
            !isRaised(tick));
    lastEnd = x + half;
  }
  for (const PlotTick& tick : at.plot.y.ticks) {
    const double y = at.y(tick.value);
    at.drawing.shapes.push_back(Line{cells.x, y, cells.right(), y, at.colors.line, 0.5});
    if (tick.label.empty() || y + kLineHeight / 2 > lastTop) continue;
    at.text(tick.label, cells.x - 7, y, Anchor::end, at.colors.secondary, kTextSize, !isRaised(tick));
    lastTop = y - kLineHeight / 2;
  }
  at.drawing.shapes.push_back(
      Line{cells.x, cells.bottom(), cells.right(), cells.bottom(), at.colors.secondary, 1});
  at.text(at.plot.x.title, cells.right(), cells.bottom() + 28, Anchor::end, at.colors.secondary);
}

void addRules(const Placed& at) {
  for (const PlotRule& rule : at.plot.rules) {
    const double share = rule.vertical ? at.plot.x.share(rule.value) : at.plot.y.share(rule.value);
    if (share < 0 || share > 1) continue;
    const Frame& cells = at.cells;
    if (rule.vertical) {
      const double x = at.x(rule.value);
      at.drawing.shapes.push_back(Line{x, cells.y, x, cells.bottom(), at.colors.faint, 0.75});
      continue;
    }
    const double y = at.y(rule.value);
    at.drawing.shapes.push_back(
        Polyline{{{cells.x, y}, {cells.right(), y}}, at.colors.faint, 0.75, {1.5, 3}});
    // At the other end where a mark stands.
    const double room = drawnWidth(rule.label, kNoteSize, false) + 30;
    const bool taken = std::any_of(at.plot.marks.begin(), at.plot.marks.end(), [&](const PlotMark& mark) {
      return std::abs(at.y(mark.at.y) - y) < 16 && at.x(mark.at.x) < cells.x + room;
    });
    at.text(rule.label, taken ? cells.right() - 4 : cells.x + 4, y - 7, taken ? Anchor::end : Anchor::start,
            at.colors.secondary, kNoteSize);
  }
}

std::vector<double> dashesOf(Dash dash) {
  if (dash == Dash::solid) return {};
  if (dash == Dash::dashed) return {5, 3.5};
  if (dash == Dash::dotted) return {1.5, 3};
  return {6, 3, 1.5, 3};
}

/// The part of a line between two values of x that lies within the axes.
void addStretch(const Placed& at, const PlotLine& line, double from, double to, Dash dash) {
  Polyline drawn{
      {}, line.chosen ? at.colors.text : at.colors.secondary, line.chosen ? 2.4 : 1.1, dashesOf(dash)};
  const auto flush = [&] {
    if (drawn.points.size() > 1) at.drawing.shapes.push_back(drawn);
    drawn.points.clear();
  };
  std::vector<double> places{from};
  for (const PlotPoint& point : line.points)
    if (point.x > from && point.x < to) places.push_back(point.x);
  places.push_back(to);
  for (const double x : places) {
    const auto y = line.at(x, at.plot.x, at.plot.y);
    const double share = y ? at.plot.y.share(*y) : -1;
    if (share < -1e-9 || share > 1 + 1e-9)
      flush();
    else
      drawn.points.push_back({at.x(x), at.y(*y)});
  }
  flush();
}

void addLine(const Placed& at, const PlotLine& line) {
  if (line.points.empty()) return;
  const double from = std::max(at.plot.x.low, line.points.front().x),
               to = std::min(at.plot.x.high, line.points.back().x);
  const double turn = std::clamp(line.dashedFrom, from, std::max(from, to));
  if (turn > from) addStretch(at, line, from, turn, line.dash);
  if (to > turn) addStretch(at, line, turn, to, line.dash == Dash::solid ? Dash::dashed : line.dash);
}

void addEnds(const Placed& at, const std::vector<EndLabel>& ends) {
  for (const EndLabel& end : ends)
    at.text(end.text, end.x, end.y, Anchor::start, end.chosen ? at.colors.text : at.colors.secondary,
            kTextSize, false, end.chosen);
}

LabelSize sizeOf(const PlotMark& mark) {
  const double width = std::max(drawnWidth(mark.label, kTextSize, !mark.bold) * (mark.bold ? 1.06 : 1),
                                drawnWidth(mark.more, kTextSize, true));
  return {width, mark.more.empty() ? kLineHeight : 2 * kLineHeight};
}

void addMark(const Placed& at, const PlotMark& mark) {
  const double x = at.x(mark.at.x), y = at.y(mark.at.y);
  const auto disc = [&](double radius, const render::Color& color) {
    at.drawing.shapes.push_back(Box{{x - radius, y - radius, 2 * radius, 2 * radius}, color, 0, radius});
  };
  disc(mark.chosen ? 4.6 : 2.6, mark.chosen ? at.colors.text : at.colors.secondary);
  if (mark.chosen) disc(2.8, at.colors.background);
}

void addMarkLabel(const Placed& at, const PlotMark& mark, const LabelPlace& place) {
  const Anchor anchor = place.share == 0 ? Anchor::start : place.share == 1 ? Anchor::end : Anchor::middle;
  const double width = drawnWidth(mark.label, kTextSize, !mark.bold), left = place.x - place.share * width;
  // A line under a label would strike it through.
  at.drawing.shapes.push_back(
      Box{{left - 2, place.y - kLineHeight / 2, width + 4, kLineHeight}, at.colors.background});
  at.text(mark.label, place.x, place.y, anchor,
          mark.bold || mark.chosen ? at.colors.text : at.colors.secondary, kTextSize, !mark.bold, mark.bold);
  if (!mark.more.empty())
    at.text(mark.more, place.x, place.y + kLineHeight, anchor, at.colors.secondary, kTextSize, true);
}

/// Names of lines, marks, and their labels.
void addWords(const Placed& at) {
  const Plot& plot = at.plot;
  const PlotCells cells{at.cells.x, at.cells.y, at.cells.width, at.cells.height};
  const std::vector<EndLabel> names = endLabels(plot, cells, kLineHeight, 6);
  addEnds(at, names);
  std::vector<LabelSize> sizes;
  for (const PlotMark& mark : plot.marks) sizes.push_back(sizeOf(mark));
  const auto labels = markLabels(plot, cells, sizes, kLineHeight, 9, names);
  const auto isShown = [&](const PlotMark& mark) {
    const double x = plot.x.share(mark.at.x), y = plot.y.share(mark.at.y);
    return x >= 0 && x <= 1 && y >= 0 && y <= 1;
  };
  for (std::size_t i = 0; i < plot.marks.size(); ++i)
    if (labels[i] && isShown(plot.marks[i])) addMarkLabel(at, plot.marks[i], *labels[i]);
  for (const PlotMark& mark : plot.marks)
    if (isShown(mark)) addMark(at, mark);
}

}  // namespace

void addPlot(Drawing& drawing, const DrawingColors& colors, const Frame& frame, const Plot& plot) {
  double labels = 0, ends = 14;
  for (const PlotTick& tick : plot.y.ticks)
    labels = std::max(labels, drawnWidth(tick.label, kTextSize, true));
  for (const PlotLine& line : plot.lines)
    ends = std::max(ends, 8 + drawnWidth(line.label, kTextSize, false) * (line.chosen ? 1.12 : 1.04));
  const Placed at{drawing,
                  colors,
                  {frame.x + labels + 9, frame.y + 6, frame.width - labels - 9 - ends, frame.height - 42},
                  plot};
  addTicks(at);
  addRules(at);
  for (const bool chosen : {false, true})
    for (const PlotLine& line : plot.lines)
      if (line.chosen == chosen) addLine(at, line);
  addWords(at);
}

}  // namespace headscope::app
