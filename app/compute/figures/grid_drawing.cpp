#include <fmt/core.h>

#include "app/compute/figures/study_figures.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::asSize;

namespace {

constexpr double kHeader = 62, kScaleRoom = 96;

/// Returns the height of title, note and column title; without the note if space is short.
double headerOf(double height) {
  return height < 190 ? 42 : kHeader;
}

/// Returns the height of a line with one bar, or with two.
double lineOf(const BarFigure& figure) {
  return figure.two ? 30 : 22;
}

std::string numberIn(float value) {
  const std::string text = fixedText(value, 2);
  return text == fixedText(0, 2) ? "" : text;
}

double longest(const std::vector<std::string>& labels, double size) {
  double width = 0;
  for (const std::string& label : labels)
    width = std::max(width, drawnWidth(cutToColumns(label, 14), size, true));
  return width;
}

bool turned(const GridFigure& figure, double cell) {
  return longest(figure.columns, 11) + 6 > cell;
}

void addTitle(Drawing& drawing, const DrawingColors& colors, const std::string& title,
              const std::string& note) {
  drawing.title = title;
  constexpr double kTitleColumn = 8, kColumn = 6.6;
  const auto columns = [&](double column) {
    return static_cast<std::size_t>(std::max(8.0, drawing.width / column));
  };
  drawing.shapes.push_back(TextRun{cutToColumns(title, columns(kTitleColumn)), 0, 10, 15, colors.text,
                                   Anchor::start, false, true});
  if (headerOf(drawing.height) < kHeader) return;
  drawing.shapes.push_back(TextRun{cutToColumns(note, columns(kColumn)), 0, 30, 12, colors.secondary});
}

render::HeatmapStyle styleOf(const GridFigure& figure, const DrawingColors& colors) {
  render::HeatmapStyle style = drawnStyle(colors, 0);
  // Zero blends into the page.
  const auto end = [](render::Colormap map, float at) { return render::sample(map, at); };
  style.tint = figure.aroundZero ? render::Tint{end(render::Colormap::diverging, 0),
                                                end(render::Colormap::diverging, 1), colors.panel}
                                 : render::Tint{colors.panel, colors.key};
  style.low = figure.low;
  style.high = figure.high;
  return style;
}

void addGridLabels(Drawing& drawing, const GridFigure& figure, const GridPlace& place,
                   const DrawingColors& colors) {
  const double high = place.cell(0, 0).height, wide = place.cell(0, 0).width;
  const auto step = [](double cell, double needed) {
    return std::max<Index>(1, static_cast<Index>(std::ceil(needed / std::max(cell, 0.1))));
  };
  for (Index row = 0; row < place.rows; row += step(high, 13))
    drawing.shapes.push_back(TextRun{figure.rows[asSize(row)], place.cells.x - 7,
                                     place.cell(row, 0).y + high / 2, 11, colors.secondary, Anchor::end,
                                     true});
  const bool turn = turned(figure, wide);
  const double y = place.cells.bottom() + 10;
  for (Index column = 0; column < place.columns; column += step(wide, turn ? 13 : 1)) {
    const double x = place.cell(0, column).x + wide / 2;
    const std::string label = cutToColumns(figure.columns[asSize(column)], 14);
    if (turn)
      drawing.shapes.push_back(TextRun{label, x, y, 11, colors.text, Anchor::end, true, false, -60});
    else
      drawing.shapes.push_back(TextRun{label, x, y, 11, colors.text, Anchor::middle, true});
  }
  drawing.shapes.push_back(
      TextRun{"layer ↓", place.cells.x - 7, place.cells.y - 10, 11, colors.faint, Anchor::end});
  drawing.shapes.push_back(
      TextRun{figure.columnTitle + " →", place.cells.x, place.cells.y - 10, 11, colors.faint});
}

void addCells(Drawing& drawing, const GridFigure& figure, const GridPlace& place,
              const DrawingColors& colors) {
  const render::HeatmapStyle style = styleOf(figure, colors);
  for (Index row = 0; row < place.rows; ++row)
    for (Index column = 0; column < place.columns; ++column) {
      Frame frame = place.cell(row, column);
      if (frame.width > 6 && frame.height > 6) frame.width -= 1, frame.height -= 1;
      const float value = figure.values(row, column);
      if (!std::isfinite(value)) {
        drawing.shapes.push_back(Box{frame, colors.raised});
        continue;
      }
      const render::Color fill = cellColor(style, std::clamp(value, figure.low, figure.high));
      drawing.shapes.push_back(Box{frame, fill});
      const bool words = !figure.words.empty();
      std::string text = words ? figure.words[asSize(row * place.columns + column)] : numberIn(value);
      const double size = 11;
      const auto room = static_cast<std::size_t>(std::max(0.0, (frame.width - 4) / (size * 0.6)));
      if (frame.height < 14 || room < 3) continue;
      if (words) text = cutToColumns(text, room);
      if (drawnWidth(text, size, true) > frame.width - 2) continue;
      drawing.shapes.push_back(TextRun{text, frame.x + frame.width / 2, frame.y + frame.height / 2, size,
                                       inkOver(fill), Anchor::middle, true});
    }
  for (const auto& [row, column] : figure.kept)
    if (row < place.rows && column < place.columns)
      drawing.shapes.push_back(Box{place.cell(row, column), colors.text, 2});
}

}  // namespace

Frame GridPlace::cell(Index row, Index column) const {
  const double wide = cells.width / static_cast<double>(std::max<Index>(columns, 1));
  const double high = cells.height / static_cast<double>(std::max<Index>(rows, 1));
  return {cells.x + wide * static_cast<double>(column), cells.y + high * static_cast<double>(row), wide,
          high};
}

std::optional<std::pair<Index, Index>> GridPlace::at(double x, double y) const {
  if (x < cells.x || y < cells.y || x >= cells.right() || y >= cells.bottom()) return std::nullopt;
  const auto part = [](double at, double from, double size, Index count) {
    return std::min(count - 1, static_cast<Index>((at - from) / size * static_cast<double>(count)));
  };
  return std::pair(part(y, cells.y, cells.height, rows), part(x, cells.x, cells.width, columns));
}

GridPlace gridPlace(const GridFigure& figure, double width, double height) {
  GridPlace place;
  place.rows = figure.values.rows();
  place.columns = figure.values.cols();
  const double left = std::max(44.0, longest(figure.rows, 11) + 12);
  const double wide = std::max(40.0, width - left - (figure.scale ? kScaleRoom : 8));
  const auto columns = static_cast<double>(std::max<Index>(place.columns, 1)),
             rows = static_cast<double>(std::max<Index>(place.rows, 1));
  const double most = figure.words.empty() ? 64 : 120;
  const double cell = std::min(wide / columns, most);
  const double below = turned(figure, cell) ? longest(figure.columns, 11) * 0.87 + 18 : 22;
  const double header = headerOf(height), high = std::max(20.0, height - header - below);
  place.cells = {left, header, cell * columns, std::min(high / rows, 56.0) * rows};
  return place;
}

Drawing gridDrawing(const GridFigure& figure, double width, double height, const DrawingColors& colors) {
  Drawing drawing;
  drawing.width = width;
  drawing.height = height;
  drawing.background = colors.background;
  addTitle(drawing, colors, figure.title, figure.scale ? figure.note : "");
  if (figure.values.size() == 0) return drawing;
  const GridPlace place = gridPlace(figure, width, height);
  addGridLabels(drawing, figure, place, colors);
  addCells(drawing, figure, place, colors);
  if (!figure.scale) return drawing;
  ColourScale scale{place.cells.right() + 18, place.cells.y - 6, std::clamp(place.cells.height, 60.0, 170.0)};
  scale.caption = figure.caption;
  scale.low = numberText(figure.low, 3);
  scale.middle = numberText((figure.low + figure.high) / 2, 3);
  scale.high = numberText(figure.high, 3);
  addScale(drawing, colors, styleOf(figure, colors), scale);
  return drawing;
}

Index shownBars(const BarFigure& figure, double height) {
  const auto room =
      static_cast<Index>((height - headerOf(height)) / lineOf(figure)) - 2;  // less the sum and the rest
  return std::clamp<Index>(room, 1, std::max<Index>(1, std::ssize(figure.bars)));
}

std::optional<Index> barAt(const BarFigure& figure, double height, double y) {
  const auto at = static_cast<Index>(std::floor((y - headerOf(height)) / lineOf(figure)));
  return at >= 0 && at < std::min<Index>(shownBars(figure, height), std::ssize(figure.bars))
             ? std::optional(at)
             : std::nullopt;
}

Drawing barDrawing(const BarFigure& figure, double width, double height, const DrawingColors& colors) {
  Drawing drawing;
  drawing.width = width;
  drawing.height = height;
  drawing.background = colors.background;
  addTitle(drawing, colors, figure.title, figure.note);
  const Index shown = std::min<Index>(shownBars(figure, height), std::ssize(figure.bars));
  BarFigure::Bar rest{fmt::format("{} more together", std::ssize(figure.bars) - shown), 0,
                      figure.two ? std::optional(0.0) : std::nullopt};
  double most = std::max(std::abs(figure.sum.a), std::abs(figure.sum.b.value_or(0)));
  for (Index i = 0; i < std::ssize(figure.bars); ++i) {
    const BarFigure::Bar& bar = figure.bars[asSize(i)];
    if (i >= shown) {
      rest.a += bar.a;
      if (rest.b) *rest.b += bar.b.value_or(0);
    } else {
      most = std::max({most, std::abs(bar.a), std::abs(bar.b.value_or(0))});
    }
  }
  most = std::max({most, std::abs(rest.a), std::abs(rest.b.value_or(0)), 1e-9});
  const double names = std::min(190.0, width * 0.3), numbers = 58;
  const double left = names + numbers, right = width - numbers - 8, middle = (left + right) / 2;
  const double unit = (right - left) / 2 / most;
  const double header = headerOf(height);
  double y = header;
  const double line = lineOf(figure);
  const auto part = [&](double value, double top, double high, const render::Color& color, bool filled) {
    const Frame frame{value < 0 ? middle + value * unit : middle, top, std::max(1.0, std::abs(value) * unit),
                      high};
    drawing.shapes.push_back(Box{frame, color, filled ? 0 : 1.2});
    drawing.shapes.push_back(TextRun{signedText(value, 2), value < 0 ? frame.x - 6 : frame.right() + 6,
                                     top + high / 2, 11, colors.text, value < 0 ? Anchor::end : Anchor::start,
                                     true});
  };
  const auto add = [&](const BarFigure::Bar& bar, bool strong) {
    drawing.shapes.push_back(TextRun{cutToColumns(bar.label, 26), 0, y + line / 2, 12,
                                     strong ? colors.text : colors.secondary, Anchor::start, false, strong});
    if (figure.two) {
      part(bar.a, y + 2, line / 2 - 2.5, strong ? colors.text : colors.secondary, true);
      part(bar.b.value_or(0), y + line / 2 + 0.5, line / 2 - 2.5, strong ? colors.text : colors.secondary,
           false);
    } else {
      part(bar.a, y + 4, line - 8, strong ? colors.text : colors.secondary, true);
    }
    y += line;
  };
  for (Index i = 0; i < shown; ++i) add(figure.bars[asSize(i)], false);
  if (shown < std::ssize(figure.bars)) add(rest, false);
  drawing.shapes.push_back(Line{0, y + 1, width, y + 1, colors.line, 1});
  add(figure.sum, true);
  drawing.shapes.push_back(Line{middle, header - 4, middle, y, colors.faint, 1});
  return drawing;
}

}  // namespace headscope::app
