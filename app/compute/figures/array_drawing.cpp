#include <cmath>
#include <set>
#include <utility>

#include "app/compute/figures/token_figures.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::asSize;
using attention::Matrix;

namespace {

constexpr double kLabelSize = 14;
constexpr Index kMostNamed = 16;  ///< bars with their numbers written

std::string barText(float value) {
  return value == std::round(value) ? countText(static_cast<std::uint64_t>(value)) : fixedText(value, 2);
}

/// Bars from the frame's bottom, or from its middle if any of the picture is negative, with their numbers and
/// words if there are few.
void addNamedBars(Drawing& drawing, const ArrayFigure& array, Frame frame, float most, bool around,
                  const DrawingColors& colors) {
  const attention::Vector numbers = array.values.front().row(0);
  const bool named = numbers.size() <= kMostNamed && !around;
  if (named) frame = {frame.x, frame.y + 16, frame.width, frame.height - 16 - (array.words.empty() ? 0 : 18)};
  const double wide = frame.width / static_cast<double>(numbers.size()),
               middle = around ? frame.y + frame.height / 2 : frame.bottom();
  drawing.shapes.push_back(Line{frame.x, middle, frame.right(), middle, colors.line, 1});
  addBars(drawing, numbers, around ? frame : Frame{frame.x, frame.y, frame.width, 2 * frame.height}, most,
          colors.text);
  for (Index i = 0; named && i < numbers.size(); ++i) {
    const double x = frame.x + wide * (static_cast<double>(i) + 0.375);
    drawing.shapes.push_back(TextRun{barText(numbers[i]), x,
                                     frame.bottom() - double{numbers[i] / most} * frame.height - 9,
                                     kLeastType, colors.text, Anchor::middle, true});
    if (i < std::ssize(array.words))
      drawing.shapes.push_back(TextRun{array.words[asSize(i)], x, frame.bottom() + 11, kLeastType,
                                       colors.secondary, Anchor::middle, true});
  }
}

/// Places equal squares in rows, as large as fit.
struct MapGrid {
  Index columns = 1;
  double side = 0;
  static constexpr double kGap = 8;
};
MapGrid mapGrid(Index count, const Frame& frame) {
  MapGrid best;
  for (Index columns = 1; columns <= count; ++columns) {
    const auto across = static_cast<double>(columns), down = std::ceil(static_cast<double>(count) / across);
    const double side = std::min((frame.width - MapGrid::kGap * (across - 1)) / across,
                                 (frame.height - MapGrid::kGap * (down - 1)) / down);
    if (side > best.side) best = {columns, side};
  }
  return best;
}

void addMaps(Drawing& drawing, const std::vector<Matrix>& maps, const Frame& frame, const MapGrid& grid,
             const render::HeatmapStyle& style) {
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const Matrix& map = maps[i];
    const double pitch = grid.side + MapGrid::kGap,
                 x = frame.x + pitch * static_cast<double>(static_cast<Index>(i) % grid.columns),
                 y = frame.y + pitch * static_cast<double>(static_cast<Index>(i) / grid.columns),
                 cell = grid.side / static_cast<double>(std::max(map.rows(), map.cols()));
    for (Index row = 0; row < map.rows(); ++row)
      for (Index col = 0; col < map.cols(); ++col)
        drawing.shapes.push_back(Box{{x + cell * static_cast<double>(col),
                                      y + cell * static_cast<double>(row), cell * 0.94, cell * 0.94},
                                     cellColor(style, map(row, col))});
  }
}

bool isBars(const ArrayFigure& array) {
  return array.values.size() == 1 && array.values.front().rows() == 1;
}

}  // namespace

Drawing arraysDrawing(std::span<const ArrayFigure> arrays, bool hidden, double width, double height,
                      const DrawingColors& colors) {
  Drawing drawing = emptyDrawing("Arrays computed in this step", width, height, colors);
  float low = 0, most = 1e-6f;
  for (const ArrayFigure& array : arrays) {
    if (!isBars(array)) continue;
    low = std::min(low, array.values.front().minCoeff());
    most = std::max(most, array.values.front().cwiseAbs().maxCoeff());
  }
  const double each = height / static_cast<double>(arrays.size());
  render::HeatmapStyle style = drawnStyle(colors, 0);
  style.high = 1;
  // Maps of all arrays are equally large.
  double side = each;
  for (const ArrayFigure& array : arrays)
    if (!isBars(array))
      side = std::min(side, mapGrid(std::ssize(array.values), {0, 0, width, each - 44}).side);
  bool scaled = false;
  double y = 0;
  for (const ArrayFigure& array : arrays) {
    const Frame frame{0, y + 28, width, each - 44};
    drawing.shapes.push_back(TextRun{array.label, 0, y + 12, kLabelSize, colors.text});
    if (hidden && array.result) {
      drawing.shapes.push_back(Box{frame, colors.line, 1.5, 4});
      drawing.shapes.push_back(
          TextRun{"?", width / 2, frame.y + frame.height / 2, 24, colors.text, Anchor::middle, true, true});
    } else if (isBars(array)) {
      addNamedBars(drawing, array, frame, most, low < 0, colors);
    } else {
      addMaps(drawing, array.values, frame, {mapGrid(std::ssize(array.values), frame).columns, side}, style);
      if (!std::exchange(scaled, true)) addScale(drawing, y + 12, style, "", colors);
    }
    y += each;
  }
  return drawing;
}

namespace {

using Point = Polyline::Point;

double cross(const Point& o, const Point& a, const Point& b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

/// The convex hull by Andrew's monotone chain (1979), closed: its first point is also its last.
std::vector<Point> hullOf(std::vector<Point> points) {
  std::ranges::sort(points, {}, [](const Point& p) { return std::pair(p.x, p.y); });
  std::vector<Point> hull;
  const auto chain = [&](auto from, auto to) {
    const std::size_t start = hull.size();
    for (; from != to; ++from) {
      while (hull.size() >= start + 2 && cross(hull[hull.size() - 2], hull.back(), *from) <= 0)
        hull.pop_back();
      hull.push_back(*from);
    }
  };
  chain(points.begin(), points.end());
  hull.pop_back();
  chain(points.rbegin(), points.rend());
  return hull;
}

}  // namespace

Drawing planeDrawing(const PlaneFigure& figure, double width, double height, const DrawingColors& colors) {
  Drawing drawing = emptyDrawing("Keys as points, and a query's direction", width, height, colors);
  // Below the plane are two lines of words, at its sides the words of points.
  const double x = width / 2, y = (height - 44) / 2, radius = std::min(x - 50, y - 16);
  const double scale = radius / double{std::max(figure.keys.cwiseAbs().maxCoeff(), 1e-6f)};
  std::vector<Point> points;
  for (Index key = 0; key < figure.keys.rows(); ++key)
    points.push_back({x + scale * double{figure.keys(key, 0)}, y - scale * double{figure.keys(key, 1)}});
  const std::vector<Point> hull = hullOf(points);
  drawing.shapes.push_back(Polyline{hull, colors.faint, 1.5});
  const Matrix scores = figure.queries * figure.keys.transpose();
  std::set<Index> winners;
  Index selected = 0;
  for (Index query = 0; query < scores.rows(); ++query) {
    Index key = 0;
    scores.row(query).maxCoeff(&key);
    winners.insert(key);
    if (query == figure.query) selected = key;
  }
  // Keys on the line would score as much as the winner; all others lie on the near side of it.
  const double angle =
      std::atan2(double{figure.queries(figure.query, 1)}, double{figure.queries(figure.query, 0)});
  const Point& far = points[asSize(selected)];
  const double along = radius * 0.5, dx = std::sin(angle) * along, dy = std::cos(angle) * along;
  drawing.shapes.push_back(Polyline{{{far.x - dx, far.y - dy}, {far.x + dx, far.y + dy}}, colors.query, 1.5});
  addHand(drawing, x, y, radius * 0.45, angle, colors.query);
  std::vector<Frame> named;
  const auto name = [&](Index key, const std::string& words, bool wins) {
    const Point& at = points[asSize(key)];
    const bool right = at.x >= x;
    const double dot = wins ? 5 : 3, wide = drawnWidth(words, kLeastType, true);
    const render::Color& ink = wins ? colors.key : colors.secondary;
    drawing.shapes.push_back(Box{{at.x - dot, at.y - dot, 2 * dot, 2 * dot}, ink, 0, dot});
    const Frame frame{right ? at.x + 9 : at.x - 9 - wide, at.y - kLeastType * 0.7, wide, kLeastType * 1.4};
    // In a crowd, some points have no name.
    if (std::ranges::any_of(named, [&](const Frame& other) {
          return frame.x < other.right() && other.x < frame.right() && frame.y < other.bottom() &&
                 other.y < frame.bottom();
        }))
      return;
    named.push_back(frame);
    drawing.shapes.push_back(TextRun{words, at.x + (right ? 9 : -9), at.y, kLeastType, ink,
                                     right ? Anchor::start : Anchor::end, true, wins});
  };
  for (const bool winning : {true, false})
    for (Index key = 0; key < std::ssize(points); ++key) {
      const Point& at = points[asSize(key)];
      // Equal words have one point, drawn with the first of them.
      std::string words;
      Index first = key;
      for (Index other = std::ssize(points) - 1; other >= 0; --other) {
        if (std::hypot(points[asSize(other)].x - at.x, points[asSize(other)].y - at.y) > 1) continue;
        words = figure.words[asSize(other)] + (words.empty() ? "" : ", ") + words;
        first = other;
      }
      if (first == key && winners.contains(key) == winning) name(key, words, winning);
    }
  const std::string word =
      figure.words.size() == asSize(figure.queries.rows()) ? figure.words[asSize(figure.query)] : "";
  drawing.shapes.push_back(TextRun{"arrow: the query of “" + word + "”; line: as far as the key that wins", x,
                                   height - 28, kLeastType, colors.query, Anchor::middle});
  drawing.shapes.push_back(TextRun{"blue: keys that win a row; outline: convex hull of the keys", x,
                                   height - 10, kLeastType, colors.secondary, Anchor::middle});
  return drawing;
}

}  // namespace headscope::app
