#include "app/compute/plots/plot_data.h"

#include <array>
#include <cmath>

#include "app/scene/text/number_text.h"

namespace headscope::app {

double PlotAxis::share(double value) const {
  if (!logarithmic) return (value - low) / (high - low);
  return std::log(std::max(value, 1e-300) / low) / std::log(high / low);
}

double PlotAxis::valueAt(double share) const {
  return logarithmic ? low * std::pow(high / low, share) : low + share * (high - low);
}

std::optional<double> PlotLine::at(double x, const PlotAxis& xAxis, const PlotAxis& yAxis) const {
  if (points.empty() || x < points.front().x || x > points.back().x) return std::nullopt;
  const auto next = std::lower_bound(points.begin(), points.end(), x,
                                     [](const PlotPoint& point, double wanted) { return point.x < wanted; });
  if (next == points.begin() || next->x == x) return next->y;
  const auto before = std::prev(next);
  const double from = xAxis.share(before->x), to = xAxis.share(next->x);
  const double along = to > from ? (xAxis.share(x) - from) / (to - from) : 0;
  return yAxis.valueAt(yAxis.share(before->y) * (1 - along) + yAxis.share(next->y) * along);
}

namespace {

std::string powerLabel(int power) {
  if (power >= 0 && power <= 3) return countText(static_cast<std::uint64_t>(std::pow(10, power)));
  if (power < 0 && power >= -3) return fixedText(std::pow(10.0, power), -power);
  return "10" + raisedDigits(power);
}

}  // namespace

std::vector<PlotTick> powerTicks(double low, double high) {
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  const int step = last - first > 6 ? 3 : 1;
  std::vector<PlotTick> ticks;
  for (int power = first; power <= last; ++power)
    ticks.push_back({std::pow(10.0, power), power % step == 0 ? powerLabel(power) : ""});
  return ticks;
}

std::vector<PlotTick> tokenTicks(double low, double high) {
  std::vector<PlotTick> ticks;
  const int first = static_cast<int>(std::ceil(std::log2(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log2(high) + 1e-9));
  for (int power = first; power <= last; ++power)
    ticks.push_back({std::exp2(power), (power - first) % 3 == 0 ? tokensText(std::int64_t{1} << power) : ""});
  return ticks;
}

std::vector<EndLabel> endLabels(const Plot& plot, const PlotCells& cells, double lineHeight, double space) {
  std::vector<EndLabel> ends;
  for (const PlotLine& line : plot.lines) {
    if (line.label.empty() || line.points.empty()) continue;
    const double last = std::min(line.points.back().x, plot.x.high);
    const auto value = line.at(last, plot.x, plot.y);
    const double x = cells.x(plot, last) + space;
    if (!value || !std::isfinite(*value) || (!line.chosen && x < cells.right() - space)) continue;
    const double y = std::clamp(cells.y(plot, *value), cells.top, cells.bottom());
    const auto same = std::find_if(ends.begin(), ends.end(), [&](const EndLabel& end) {
      return std::abs(end.y - y) < lineHeight / 16 && std::abs(end.x - x) < space;
    });
    if (same == ends.end()) {
      ends.push_back({line.label, x, y, line.chosen, line.wrong});
    } else {
      same->text = line.chosen ? line.label + " = " + same->text : same->text + " = " + line.label;
      same->chosen |= line.chosen;
    }
  }
  std::sort(ends.begin(), ends.end(), [](const EndLabel& a, const EndLabel& b) { return a.y < b.y; });
  for (int round = 0; round < 40; ++round)
    for (std::size_t i = 1; i < ends.size(); ++i)
      if (const double overlap = lineHeight - (ends[i].y - ends[i - 1].y); overlap > 0) {
        ends[i - 1].y -= overlap / 2;
        ends[i].y += overlap / 2;
      }
  return ends;
}

namespace {

struct LabelBox {
  double left, top, right, bottom;

  bool meets(const LabelBox& other) const {
    return left < other.right && right > other.left && top < other.bottom && bottom > other.top;
  }
};

LabelPlace placeOn(PlotSide side, PlotPoint at, LabelSize size, double lineHeight, double out) {
  const double more = size.height - lineHeight;
  switch (side) {
    case PlotSide::above:
      return {at.x, at.y - 1.23 * out - more, 0.5};
    case PlotSide::below:
      return {at.x, at.y + 1.23 * out, 0.5};
    case PlotSide::left:
      return {at.x - out, at.y, 1};
    case PlotSide::right:
      return {at.x + out, at.y, 0};
    case PlotSide::aboveLeft:
      return {at.x - out, at.y - out - more, 1};
    case PlotSide::belowRight:
      return {at.x + out, at.y + out, 0};
  }
  return {at.x, at.y, 0};
}

LabelBox boxOf(const LabelPlace& place, LabelSize size, double lineHeight) {
  const double left = place.x - place.share * size.width, top = place.y - lineHeight / 2;
  return {left, top, left + size.width, top + size.height};
}

/// What a label would cover, as a cost: at least kTaken if it overlaps another label.
constexpr double kTaken = 60;
struct LabelCost {
  const Plot& plot;
  const PlotCells& cells;
  double out;
  std::vector<LabelBox> taken;  ///< boxes of other labels

  double lines(const LabelBox& box) const {
    double cost = 0;
    constexpr int kSamples = 7;
    const double thick = out / 5;
    for (const PlotLine& line : plot.lines)
      for (int i = 0; i < kSamples; ++i) {
        const double x = box.left + (box.right - box.left) * i / (kSamples - 1);
        const auto value = line.at(plot.x.valueAt((x - cells.left) / cells.width), plot.x, plot.y);
        const double y = value ? cells.y(plot, *value) : box.bottom + 1;
        if (y < box.top - thick || y > box.bottom + thick) continue;
        cost += line.chosen ? 10 : 6;
        break;
      }
    for (const PlotRule& rule : plot.rules)
      if (const double x = cells.x(plot, rule.value); rule.vertical && x > box.left && x < box.right)
        cost += 4;
    return cost;
  }
  double of(const LabelBox& box, std::size_t mark) const {
    double cost = lines(box);
    // Tick labels are a little below the cells, and close to them on the left.
    if (box.left < cells.left) cost += 2 * kTaken;
    if (box.bottom > cells.bottom()) cost += box.bottom > cells.bottom() + out ? 2 * kTaken : 5;
    if (box.right > cells.right() + out || box.top < cells.top - 2 * out) cost += kTaken / 2;
    for (const LabelBox& other : taken)
      if (box.meets(other)) cost += kTaken;
    const double radius = out / 2;
    for (std::size_t i = 0; i < plot.marks.size(); ++i) {
      const double x = cells.x(plot, plot.marks[i].at.x), y = cells.y(plot, plot.marks[i].at.y);
      if (i != mark && box.meets({x - radius, y - radius, x + radius, y + radius})) cost += 25;
    }
    return cost;
  }
};

}  // namespace

std::vector<std::optional<LabelPlace>> markLabels(const Plot& plot, const PlotCells& cells,
                                                  const std::vector<LabelSize>& sizes, double lineHeight,
                                                  double out, const std::vector<EndLabel>& ends) {
  LabelCost cost{plot, cells, out, {}};
  for (const EndLabel& end : ends)
    cost.taken.push_back(
        {end.x, end.y - lineHeight / 2, std::numeric_limits<double>::infinity(), end.y + lineHeight / 2});
  std::vector<std::optional<LabelPlace>> places(plot.marks.size());
  const auto place = [&](std::size_t i) {
    const PlotMark& mark = plot.marks[i];
    if (mark.label.empty()) return;
    const PlotPoint at{cells.x(plot, mark.at.x), cells.y(plot, mark.at.y)};
    double least = mark.chosen ? std::numeric_limits<double>::infinity() : kTaken;
    double rank = 0;
    for (const PlotSide side : {mark.side, PlotSide::aboveLeft, PlotSide::belowRight, PlotSide::right,
                                PlotSide::left, PlotSide::above, PlotSide::below}) {
      const LabelPlace there = placeOn(side, at, sizes[i], lineHeight, out);
      const double covers = cost.of(boxOf(there, sizes[i], lineHeight), i) + rank;
      rank += 1.5;
      if (covers >= least) continue;
      least = covers;
      places[i] = there;
    }
    if (places[i]) cost.taken.push_back(boxOf(*places[i], sizes[i], lineHeight));
  };
  // Chosen marks take their places first.
  for (const bool chosen : {true, false})
    for (std::size_t i = 0; i < plot.marks.size(); ++i)
      if (plot.marks[i].chosen == chosen) place(i);
  return places;
}

using attention::Index;

namespace {

bool suffices(Index step, double each, double room, Index count) {
  return step >= count || (each > 0 && each * static_cast<double>(step) >= room);
}

}  // namespace

Index powerOfTwoStep(double each, double room, Index count) {
  Index step = 1;
  while (!suffices(step, each, room, count)) step *= 2;
  return step;
}

Index roundStep(double each, double room, Index count) {
  Index step = 1;
  for (int i = 0; !suffices(step, each, room, count); ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

std::vector<float> placesBetween(float from, float to, float step) {
  std::vector<float> places;
  if (!(step > 0) || !std::isfinite(from) || !std::isfinite(to) || !std::isfinite(step)) return places;
  for (int i = 0; i < kMaxPlaces; ++i) {
    const float at = from + static_cast<float>(i) * step;
    if (at >= to) break;
    places.push_back(at);
  }
  return places;
}

}  // namespace headscope::app
