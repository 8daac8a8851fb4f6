#include "app/compute/plots/plot_data.h"

#include <algorithm>
#include <cmath>

#include "app/scene/text/byte_text.h"
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
  static constexpr const char* kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (power >= 0 && power <= 3) return countText(static_cast<std::uint64_t>(std::pow(10, power)));
  if (power < 0 && power >= -3) return fixedText(std::pow(10.0, power), -power);
  std::string raised = power < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(power))) raised += kRaised[digit - '0'];
  return "10" + raised;
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

}  // namespace headscope::app
