#include "app/compute/figures/study_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::asSize;

namespace {

constexpr double kStudyHeader = 46, kTableTitles = 40, kTableRow = 30, kTableNames = 56, kTableColumn = 70;
constexpr double kTableNumberEnd = 0.9;  // of a column
constexpr double kScatterLeft = 58, kScatterBottom = 44, kScatterRight = 16;

double studyMean(const HeadColumn& column, std::pair<Index, Index> head) {
  return double{column.mean(head.first, head.second)};
}

/// With a capital, as a title begins.
std::string begun(std::string words) {
  if (!words.empty())
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
  return words;
}

bool overlap(const Frame& a, const Frame& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

/// "previous", "token".
std::pair<std::string, std::string> titleLines(const std::string& title) {
  constexpr std::size_t kLine = 12;
  const std::size_t space = title.find(' ');
  if (space == std::string::npos) return {"", cutToColumns(title, kLine)};
  return {cutToColumns(title.substr(0, space), kLine), cutToColumns(title.substr(space + 1), kLine)};
}

std::string headPlace(std::pair<Index, Index> head) {
  return fmt::format("{}.{}", head.first, head.second);
}

void addStudyHeader(Drawing& drawing, const DrawingColors& colors, const std::string& title,
                    const std::string& note) {
  drawing.title = title;
  const auto columns = [&](double wide) {
    return static_cast<std::size_t>(std::max(8.0, drawing.width / wide));
  };
  drawing.shapes.push_back(
      TextRun{cutToColumns(title, columns(8)), 0, 10, 15, colors.text, Anchor::start, false, true});
  drawing.shapes.push_back(TextRun{cutToColumns(note, columns(6.6)), 0, 30, 12, colors.secondary});
}

/// From value to place along an axis.
struct ScatterAxis {
  double low = 0, high = 1, from = 0, to = 1;

  static ScatterAxis over(const ScatterFigure& figure, double ScatterFigure::Point::*value, double from,
                          double to) {
    ScatterAxis axis{0, 0, from, to};
    for (const ScatterFigure::Point& point : figure.points) {
      axis.low = std::min(axis.low, point.*value);
      axis.high = std::max(axis.high, point.*value);
    }
    if (axis.high - axis.low < 1e-9) axis.high = axis.low + 1;
    return axis;
  }
  double at(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

std::pair<ScatterAxis, ScatterAxis> scatterAxes(const ScatterFigure& figure, double width, double height) {
  return {ScatterAxis::over(figure, &ScatterFigure::Point::x, kScatterLeft,
                            std::max(kScatterLeft + 40, width - kScatterRight)),
          ScatterAxis::over(figure, &ScatterFigure::Point::y,
                            std::max(kStudyHeader + 60, height - kScatterBottom), kStudyHeader + 8)};
}

}  // namespace

std::string studyNumber(double value) {
  return std::isfinite(value) ? fixedText(value, 2) : "–";
}

std::string studyNote(const TextsStudy& study) {
  const Index texts = std::ssize(study.texts) - study.problems;
  return fmt::format("{}: mean over {}", study.question.file->name, countedText(texts, "text"));
}

ScatterFigure scatterFigure(const TextsStudy& study, const std::string& x, const std::string& y) {
  ScatterFigure figure;
  const HeadColumn *const across = study.column(x), *const up = study.column(y);
  if (!across || !up) return figure;
  figure.title = begun(up->title) + " against " + across->title;
  figure.note = studyNote(study);
  figure.xTitle = across->title;
  figure.yTitle = up->title;
  for (Index layer = 0; layer < up->mean.rows(); ++layer)
    for (Index head = 0; head < up->mean.cols(); ++head) {
      const double a = studyMean(*across, {layer, head}), b = studyMean(*up, {layer, head});
      if (std::isfinite(a) && std::isfinite(b)) figure.points.push_back({layer, head, a, b});
    }
  return figure;
}

Drawing scatterDrawing(const ScatterFigure& figure, double width, double height,
                       const DrawingColors& colors) {
  Drawing drawing;
  drawing.width = width;
  drawing.height = height;
  drawing.background = colors.background;
  addStudyHeader(drawing, colors, figure.title, figure.note);
  const auto axes = scatterAxes(figure, width, height);
  const ScatterAxis &x = axes.first, &y = axes.second;
  const auto line = [&](double x0, double y0, double x1, double y1) {
    drawing.shapes.push_back(Line{x0, y0, x1, y1, colors.line, 1});
  };
  const auto mark = [&](const ScatterAxis& axis, double value, bool across) {
    const double at = axis.at(value);
    const std::string text = studyNumber(value);
    if (across)
      drawing.shapes.push_back(TextRun{text, at, y.from + 14, 11, colors.secondary, Anchor::middle, true});
    else
      drawing.shapes.push_back(TextRun{text, x.from - 8, at, 11, colors.secondary, Anchor::end, true});
  };
  line(x.from, y.at(0), x.to, y.at(0));
  line(x.at(0), y.from, x.at(0), y.to);
  for (const auto& [axis, across] : {std::pair(x, true), std::pair(y, false)}) {
    mark(axis, axis.high, across);
    if (axis.low < 0) mark(axis, axis.low, across);
    // Not over that of an end.
    const double needed = across ? 44 : 16;
    const auto far = [&, &axis = axis](double value) {
      return std::abs(axis.at(0) - axis.at(value)) >= needed;
    };
    if (far(axis.high) && (axis.low == 0 || far(axis.low))) mark(axis, 0, across);
  }
  drawing.shapes.push_back(
      TextRun{figure.xTitle + " →", (x.from + x.to) / 2, y.from + 32, 11, colors.faint, Anchor::middle});
  drawing.shapes.push_back(TextRun{figure.yTitle + " ↑", x.from + 6, y.to - 2, 11, colors.faint});
  // The farthest from the middle are named.
  std::vector<std::size_t> order(figure.points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto far = [&](std::size_t i) {
    const auto& point = figure.points[i];
    return std::abs(point.x) / (x.high - x.low) + std::abs(point.y) / (y.high - y.low);
  };
  std::ranges::stable_sort(order, std::greater(), far);
  std::vector<Frame> named{{x.from, y.to - 12, drawnWidth(figure.yTitle + " ↑", 11, false) + 12, 20}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& point = figure.points[order[i]];
    const bool lit = figure.lit == std::pair(point.layer, point.head);
    const double size = lit ? 5 : 3.5, px = x.at(point.x), py = y.at(point.y);
    drawing.shapes.push_back(
        Box{{px - size, py - size, 2 * size, 2 * size}, lit ? colors.query : colors.secondary, 0, size});
    if (!lit && i >= 12) continue;
    const std::string name = headPlace({point.layer, point.head});
    const bool leftwards = px > width - 60;
    const double wide = drawnWidth(name, 11, true);
    const Frame room{leftwards ? px - 8 - wide : px + 8, py - 7, wide, 14};
    if (std::ranges::any_of(named, [&](const Frame& other) { return overlap(room, other); })) continue;
    named.push_back(room);
    drawing.shapes.push_back(TextRun{name, leftwards ? px - 8 : px + 8, py, 11, colors.text,
                                     leftwards ? Anchor::end : Anchor::start, true});
  }
  return drawing;
}

std::optional<std::size_t> scatterAt(const ScatterFigure& figure, double width, double height, double x,
                                     double y) {
  const auto axes = scatterAxes(figure, width, height);
  std::optional<std::size_t> nearest;
  double least = 12;
  for (std::size_t i = 0; i < figure.points.size(); ++i) {
    const double far =
        std::hypot(axes.first.at(figure.points[i].x) - x, axes.second.at(figure.points[i].y) - y);
    if (far < least) least = far, nearest = i;
  }
  return nearest;
}

TableFigure tableFigure(const TextsStudy& study, const std::string& column, bool smallestFirst) {
  TableFigure figure;
  const HeadColumn* const by = study.column(column);
  if (!by) return figure;
  figure.title = "Heads by " + by->title;
  figure.note = studyNote(study) + ", ± standard deviation";
  figure.columns.push_back(by);
  // What heads do to the answer comes before what they look like; both are in the order of the file.
  for (const bool effect : {true, false})
    for (const HeadColumn& one : study.columns) {
      const bool isEffect = one.name == "loss" || one.name == "attribution" || one.name == "patch";
      if (&one != by && isEffect == effect) figure.columns.push_back(&one);
    }
  for (Index layer = 0; layer < by->mean.rows(); ++layer)
    for (Index head = 0; head < by->mean.cols(); ++head) figure.rows.emplace_back(layer, head);
  std::ranges::stable_sort(figure.rows, {}, [&](std::pair<Index, Index> head) {
    const double mean = studyMean(*by, head);
    return std::isfinite(mean) ? (smallestFirst ? mean : -mean) : std::numeric_limits<double>::infinity();
  });
  return figure;
}

std::size_t tableRows(double height) {
  return static_cast<std::size_t>(
      std::max(1.0, std::floor((height - kStudyHeader - kTableTitles) / kTableRow)));
}

std::size_t tableColumns(const TableFigure& figure, double width) {
  const auto room =
      static_cast<std::size_t>(std::max(1.0, std::floor((width - kTableNames - 40) / kTableColumn)));
  return std::min(room, figure.columns.size());
}

TablePlace tableAt(const TableFigure& figure, double width, double height, double x, double y) {
  TablePlace place;
  const double top = kStudyHeader + kTableTitles;
  if (y >= kStudyHeader && y < top && x >= kTableNames) {
    const auto column = static_cast<std::size_t>((x - kTableNames) / kTableColumn);
    if (column < tableColumns(figure, width)) place.column = column;
  }
  if (y >= top && x >= 0 && x < width) {
    const auto row = static_cast<std::size_t>((y - top) / kTableRow);
    if (row < tableRows(height) && figure.first + row < figure.rows.size()) place.row = figure.first + row;
  }
  return place;
}

Drawing tableDrawing(const TableFigure& figure, double width, double height, const DrawingColors& colors) {
  Drawing drawing;
  drawing.width = width;
  drawing.height = height;
  drawing.background = colors.background;
  addStudyHeader(drawing, colors, figure.title, figure.note);
  if (figure.columns.empty()) return drawing;
  const std::size_t columns = tableColumns(figure, width);
  const double top = kStudyHeader + kTableTitles,
               wide = kTableNames + kTableColumn * static_cast<double>(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    const double x = kTableNames + kTableColumn * (static_cast<double>(i) + kTableNumberEnd);
    const auto [above, below] = titleLines(figure.columns[i]->title);
    const render::Color& color = i == 0 ? colors.text : colors.secondary;
    drawing.shapes.push_back(TextRun{above, x, top - 24, 11, color, Anchor::end});
    drawing.shapes.push_back(TextRun{below, x, top - 10, 11, color, Anchor::end});
  }
  drawing.shapes.push_back(Line{0, top, wide, top, colors.line, 1});
  const std::size_t last = std::min(figure.rows.size(), figure.first + tableRows(height));
  for (std::size_t row = figure.first; row < last; ++row) {
    const double y = top + kTableRow * static_cast<double>(row - figure.first);
    if (figure.lit == figure.rows[row])
      drawing.shapes.push_back(Box{{0, y + 1, wide, kTableRow - 2}, colors.raised, 0, 4});
    drawing.shapes.push_back(TextRun{headPlace(figure.rows[row]), 8, y + kTableRow / 2, 12, colors.text,
                                     Anchor::start, true, true});
    for (std::size_t i = 0; i < columns; ++i) {
      const double x = kTableNames + kTableColumn * (static_cast<double>(i) + kTableNumberEnd);
      const auto [layer, head] = figure.rows[row];
      const double mean = studyMean(*figure.columns[i], figure.rows[row]);
      drawing.shapes.push_back(TextRun{studyNumber(mean), x, y + 10, 12,
                                       i == 0 ? colors.text : colors.secondary, Anchor::end, true});
      if (std::isfinite(mean))
        drawing.shapes.push_back(TextRun{"±" + studyNumber(double{figure.columns[i]->spread(layer, head)}), x,
                                         y + 22, 10, colors.faint, Anchor::end, true});
    }
  }
  return drawing;
}

GridFigure studyMap(const TextsStudy& study, const std::string& column) {
  GridFigure figure;
  const HeadColumn* const of = study.column(column);
  if (!of) return figure;
  figure.title = begun(of->title);
  figure.note = studyNote(study);
  figure.columnTitle = "head";
  figure.values = of->mean;
  for (Index row = 0; row < of->mean.rows(); ++row) figure.rows.push_back(fmt::format("{}", row));
  for (Index head = 0; head < of->mean.cols(); ++head) figure.columns.push_back(fmt::format("{}", head));
  float least = 0, most = 0;
  for (const float value : of->mean.reshaped())
    if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
  figure.aroundZero = least < 0;
  const float end = std::max({most, -least, 1e-6f});
  figure.low = figure.aroundZero ? -end : 0;
  figure.high = end;
  figure.caption = "mean";
  return figure;
}

}  // namespace headscope::app
