#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/compute/figures/drawing_parts.h"
#include "app/compute/figures/drawings.h"
#include "app/compute/plots/thinning.h"
#include "app/scene/text/number_text.h"
#include "attention/core/extremes.h"

namespace headscope::app {

namespace {

constexpr double kSide = 720;
constexpr Index kMostMapPixels = 1024;

/// First and count of the cells of `total` about a middle, on multiples of the factor.
std::pair<Index, Index> sideOf(double middle, double shown, Index total, Index factor) {
  const auto wanted = std::min<Index>(total, std::max<Index>(1, static_cast<Index>(std::ceil(shown))));
  const Index from = std::clamp<Index>(static_cast<Index>(std::floor(middle - shown / 2)), 0, total - wanted);
  const Index first = from / factor * factor;
  return {first, std::min(total, (from + wanted + factor - 1) / factor * factor) - first};
}

std::string placeText(const std::vector<attention::Token>& tokens, Index at) {
  const std::string number = countText(static_cast<std::uint64_t>(at));
  if (at >= static_cast<Index>(tokens.size())) return number;
  return number + "  " + cutToColumns(tokens[static_cast<std::size_t>(at)].text, 12);
}

constexpr double kLabelSize = 10;

/// A side's labelled cells.
struct Ticks {
  std::vector<Index> at;
  std::vector<std::string> texts;
  double longest = 0;  ///< units of the longest text
};
Ticks ticksOf(const std::vector<attention::Token>& tokens, Index first, Index count, double room,
              double each) {
  Ticks ticks;
  const Index step = roundStep(each, room, count);
  for (Index i = (first + step - 1) / step * step; i < first + count; i += step) {
    ticks.at.push_back(i);
    ticks.texts.push_back(placeText(tokens, i));
    ticks.longest = std::max(ticks.longest, drawnWidth(ticks.texts.back(), kLabelSize, true));
  }
  return ticks;
}

void addAxes(Drawing& drawing, const DrawingColors& colors, const attention::MapPart& part,
             const Ticks& queries, const Ticks& keys, const Frame& area, double each) {
  for (std::size_t i = 0; i < queries.at.size(); ++i) {
    const double y = area.y + (static_cast<double>(queries.at[i] - part.row) + 0.5) * each;
    drawing.shapes.push_back(Line{area.x - 5, y, area.x - 1, y, colors.faint, 0.75});
    drawing.shapes.push_back(
        TextRun{queries.texts[i], area.x - 9, y, kLabelSize, colors.text, Anchor::end, true});
  }
  for (std::size_t j = 0; j < keys.at.size(); ++j) {
    const double x = area.x + (static_cast<double>(keys.at[j] - part.key) + 0.5) * each;
    drawing.shapes.push_back(Line{x, area.bottom() + 1, x, area.bottom() + 5, colors.faint, 0.75});
    drawing.shapes.push_back(TextRun{keys.texts[j], x, area.bottom() + 10, kLabelSize, colors.text,
                                     Anchor::start, true, false, 60});
  }
  drawing.shapes.push_back(
      TextRun{"query ↓", area.x - 9, area.y - 16, 11, colors.query, Anchor::end, false, true});
  drawing.shapes.push_back(
      TextRun{"key →", area.x - 9, area.bottom() + 18, 11, colors.key, Anchor::end, false, true});
}

/// As the map page draws it: down to where a row that looks at all keys alike would be.
ValueRange rangeOfMap(const Look& look, const attention::Matrix& values, Index keys) {
  if (look.range == RangeMode::logarithmic) {
    const double even = 1 / static_cast<double>(std::max<Index>(1, keys));
    return {static_cast<float>(std::min(1e-4, std::pow(10, std::floor(std::log10(even))))), 1, true};
  }
  const float most = attention::finiteRange(values).second;
  return {0, look.range != RangeMode::unit && most > 0 ? most : 1, false};
}

/// Exact cells, rows that see no key marked.
attention::Matrix mapCells(MapHead head, const attention::MapPart& part, attention::Pooling pooling) {
  attention::HeadMap map(std::move(head.field));
  attention::Matrix cells = map.weights(part, pooling);
  for (Index row = 0; row < cells.rows(); ++row) {
    const Index first = part.row + row * part.factor;
    if (map.dead(first, std::min(part.factor, part.row + part.rows - first)))
      cells.row(row).setConstant(render::kDeadCell);
  }
  return cells;
}

}  // namespace

attention::MapPart mapPart(const MapCursor& cursor, Index queries, Index keys) {
  const auto longer = static_cast<double>(std::max(queries, keys));
  const double whole = longer / kSide;
  const bool all = cursor.cellsPerPixel <= 0 || cursor.cellsPerPixel >= whole;
  const double shown = all ? longer : cursor.cellsPerPixel * kSide;
  attention::MapPart part;
  part.factor = powerOfTwoStep(kMostMapPixels, shown, std::max(queries, keys));
  std::tie(part.row, part.rows) = sideOf(all ? longer / 2 : cursor.row, shown, queries, part.factor);
  std::tie(part.key, part.keys) = sideOf(all ? longer / 2 : cursor.col, shown, keys, part.factor);
  return part;
}

namespace {

render::HeatmapStyle mapStyle(const DrawingColors& colors, const Look& look, const ValueRange& range,
                              double pixel) {
  render::HeatmapStyle style = drawnStyle(colors, pixel >= 8 ? 1 : 0);
  style.colormap = look.colormap;
  style.low = range.low;
  style.high = range.high;
  style.logarithmic = range.logarithmic;
  return style;
}

/// "32,768 × 32,768 tokens · each pixel the largest of 32 × 32 cells".
std::string whatIsMapped(const attention::MapPart& part, Index n, Index m, attention::Pooling pooling) {
  const auto count = [](Index value) { return countText(static_cast<std::uint64_t>(value)); };
  std::string what = fmt::format("{} × {} tokens", count(n), count(m));
  if (part.rows < n || part.keys < m)
    what = fmt::format("queries {}–{}, keys {}–{} of {}", count(part.row), count(part.row + part.rows - 1),
                       count(part.key), count(part.key + part.keys - 1), what);
  if (part.factor > 1)
    what += fmt::format(" · each pixel the {} of {} × {} cells",
                        pooling == attention::Pooling::max ? "largest" : "mean", part.factor, part.factor);
  return what;
}

/// The head's number and what of it is there; the units it takes.
double addTitle(Drawing& drawing, const DrawingColors& colors, Index head, const std::string& what) {
  const std::string title = fmt::format("Head {}", head);
  const double at = kMargin + drawnWidth(title, 15, false) + 12;
  drawing.shapes.push_back(TextRun{title, kMargin, 24, 15, colors.text, Anchor::start, false, true});
  drawing.shapes.push_back(TextRun{what, at, 24, 11, colors.secondary});
  return at + drawnWidth(what, 11, false);
}

}  // namespace

Drawing mapDrawing(const Scene& scene, MapHead head, const DrawingOptions& options) {
  const DrawingColors& colors = drawingColors(options.dark);
  const Index n = head.field.q.rows(), m = head.field.k.rows(), number = head.field.head;
  const attention::MapPart part = mapPart(scene.cursor.map, n, m);
  const std::shared_ptr<const MapText> text = head.text;
  Drawing drawing;
  drawing.background = colors.background;
  drawing.title = fmt::format("Attention weights of head {} over {} × {} tokens", number, n, m);
  Cells cells;
  cells.values = mapCells(std::move(head), part, scene.map.pooling);
  const auto longer = static_cast<double>(std::max(cells.values.rows(), cells.values.cols()));
  const double pixel = std::clamp(std::floor(kSide / longer), 1.0, 40.0),
               each = pixel / static_cast<double>(part.factor);
  const Ticks queries = ticksOf(text->queries, part.row, part.rows, 15, each),
              keys = ticksOf(text->keys, part.key, part.keys, 22, each);
  const Frame frame{std::ceil(kMargin + std::max(queries.longest, 44.0) + 10), 64,
                    pixel * static_cast<double>(cells.values.cols()),
                    pixel * static_cast<double>(cells.values.rows())};
  const ValueRange range = rangeOfMap(scene.look, cells.values, m);
  cells.frame = frame;
  cells.style = mapStyle(colors, scene.look, range, pixel);
  ColourScale scale{frame.right() + 24, frame.y - 4, std::clamp(frame.height, 60.0, 240.0), "weight"};
  scale.low = range.logarithmic ? numberText(range.low, 2) : "0";
  scale.high = roundedText(range.high, 3);
  scale.masked = anyIs(cells.values, render::kMaskedCell);
  scale.dead = anyIs(cells.values, render::kDeadCell);
  addScale(drawing, colors, cells.style, scale);
  const double titled = addTitle(drawing, colors, number, whatIsMapped(part, n, m, scene.map.pooling));
  addAxes(drawing, colors, part, queries, keys, frame, each);
  drawing.shapes.push_back(std::move(cells));
  drawing.shapes.push_back(Box{frame, colors.line, 0.75});
  drawing.width = std::max({scale.x + kScaleWidth, frame.right() + keys.longest / 2, titled}) + kMargin;
  drawing.height = std::max(frame.bottom() + 20 + keys.longest * 0.87, scale.y + scale.height + 60) + kMargin;
  return drawing;
}

}  // namespace headscope::app
