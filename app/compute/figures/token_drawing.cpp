#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "app/compute/figures/token_figures.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::asSize;

namespace {

Polyline::Point onCircle(double x, double y, double radius, double radians) {
  return {x + radius * std::cos(radians), y - radius * std::sin(radians)};
}

}  // namespace

Drawing emptyDrawing(const std::string& title, double width, double height, const DrawingColors& colors) {
  Drawing drawing;
  drawing.title = title;
  drawing.width = width;
  drawing.height = height;
  drawing.background = colors.background;
  return drawing;
}

void addBars(Drawing& drawing, const attention::Vector& numbers, const Frame& frame, float most,
             const render::Color& color) {
  const double wide = frame.width / static_cast<double>(numbers.size()), middle = frame.y + frame.height / 2;
  for (Index i = 0; i < numbers.size(); ++i) {
    const double high = double{numbers[i]} / double{most} * frame.height / 2;
    drawing.shapes.push_back(Box{{frame.x + wide * static_cast<double>(i), std::min(middle, middle - high),
                                  wide * 0.75, std::max(std::abs(high), 0.5)},
                                 color});
  }
}

void addScale(Drawing& drawing, double y, const render::HeatmapStyle& style, const std::string& caption,
              const DrawingColors& colors) {
  constexpr double kBar = 80, kGap = 8;
  double x = drawing.width;
  const auto write = [&](const std::string& text, const render::Color& ink, bool mono) {
    drawing.shapes.push_back(TextRun{text, x, y, kLeastType, ink, Anchor::end, mono});
    x -= drawnWidth(text, kLeastType, mono) + kGap;
  };
  write(roundedText(double{style.high}, 2), colors.text, true);
  drawing.shapes.push_back(Ramp{{x - kBar, y - 5, kBar, 10}, style, false});
  x -= kBar + kGap;
  write(roundedText(double{style.low}, 2), colors.text, true);
  if (!caption.empty()) write(caption, colors.secondary, false);
}

void addHand(Drawing& drawing, double x, double y, double radius, double radians,
             const render::Color& color) {
  const Polyline::Point tip = onCircle(x, y, radius, radians);
  drawing.shapes.push_back(Line{x, y, tip.x, tip.y, color, 2.5});
  for (const double side : {-0.4, 0.4}) {
    const Polyline::Point barb = onCircle(tip.x, tip.y, radius * 0.25, radians + std::numbers::pi + side);
    drawing.shapes.push_back(Line{tip.x, tip.y, barb.x, barb.y, color, 2.5});
  }
}

namespace {

bool isCompared(const TokenFigure& figure, Index position) {
  return std::ranges::find(figure.compared, position) != figure.compared.end();
}

/// The colour of a compared token: those with the first one's id are white, others are blue.
const render::Color& inkOf(const TokenFigure& figure, Index id, const DrawingColors& colors) {
  return figure.at(figure.compared.front()).id == id ? colors.text : colors.key;
}

std::string idText(const TokenFigure::Entry& entry) {
  return fmt::format("{}", entry.id);
}

/// Places the text's tokens in one line if type of some size fits, else in several lines of the smallest.
std::vector<Frame> placeChips(const TokenFigure& figure, double width, double& size) {
  const auto chipWidth = [&](const TokenFigure::Entry& token) {
    return std::max(drawnWidth(token.word, size, true), drawnWidth(idText(token), size, true)) + 7;
  };
  constexpr double kGap = 3;
  for (const double each : {20.0, 17.0, 14.0, kLeastType}) {
    size = each;
    double needed = 0;
    for (const auto& token : figure.text) needed += chipWidth(token) + kGap;
    if (needed <= width + kGap) break;
  }
  const double high = 2.6 * size + 8;
  std::vector<Frame> chips;
  double x = 0, y = 0;
  for (const auto& token : figure.text) {
    const double wide = std::min(chipWidth(token), width);
    if (x > 0 && x + wide > width) {
      x = 0;
      y += high + kGap;
    }
    chips.push_back({x, y, wide, high});
    x += wide + kGap;
  }
  return chips;
}

/// Adds each token as a box with its word and id. Returns the boxes.
std::vector<Frame> addChips(Drawing& drawing, const TokenFigure& figure, bool hidden,
                            const DrawingColors& colors) {
  double size = 0;
  std::vector<Frame> chips = placeChips(figure, drawing.width, size);
  for (std::size_t i = 0; i < figure.text.size(); ++i) {
    const Frame& frame = chips[i];
    const auto position = static_cast<Index>(i);
    const bool lit = isCompared(figure, position);
    const render::Color& ink = lit && !hidden ? inkOf(figure, figure.text[i].id, colors)
                               : lit          ? colors.text
                                              : colors.secondary;
    drawing.shapes.push_back(Box{frame, lit ? colors.raised : colors.panel, 0, 4});
    if (lit) drawing.shapes.push_back(Box{frame, ink, 1.5, 4});
    const double x = frame.x + frame.width / 2;
    drawing.shapes.push_back(
        TextRun{figure.text[i].word, x, frame.y + 4 + size * 0.65, size, ink, Anchor::middle, true, lit});
    drawing.shapes.push_back(TextRun{hidden && lit ? "?" : idText(figure.text[i]), x,
                                     frame.bottom() - 4 - size * 0.65, size, ink, Anchor::middle, true});
  }
  return chips;
}

/// Violet below zero, green above it, and zero blends into the page.
render::HeatmapStyle numberStyleOf(const TokenFigure& figure, const DrawingColors& colors) {
  render::HeatmapStyle style = drawnStyle(colors, 0);
  style.tint = render::Tint{render::sample(render::Colormap::diverging, 0),
                            render::sample(render::Colormap::diverging, 1), colors.panel};
  style.high = std::max(figure.rows.cwiseAbs().maxCoeff(), 1e-6f);
  style.low = -style.high;
  return style;
}

/// A row of numbers as coloured cells.
void addCells(Drawing& drawing, const attention::Vector& numbers, const Frame& frame,
              const render::HeatmapStyle& style) {
  const double wide = frame.width / static_cast<double>(numbers.size());
  for (Index i = 0; i < numbers.size(); ++i)
    drawing.shapes.push_back(Box{{frame.x + wide * static_cast<double>(i), frame.y, wide + 0.3, frame.height},
                                 cellColor(style, std::clamp(numbers[i], style.low, style.high))});
}

/// Entries of the vocabulary, line by line, with a gap where ids are missing. Calls `line` with each one's
/// index and the middle of its line, and returns the lower end.
template <typename Line>
double eachEntry(const std::vector<TokenFigure::Entry>& entries, double y, double high, const Line& line) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0 && entries[i].id > entries[i - 1].id + 1) y += high * 0.8;
    line(i, y + high / 2);
    y += high;
  }
  return y;
}

/// Whether a token at one of the positions has this id.
bool haveId(const TokenFigure& figure, std::span<const Index> positions, Index id) {
  return std::ranges::any_of(positions, [&](Index at) { return figure.at(at).id == id; });
}

}  // namespace

Drawing idsDrawing(const TokenFigure& figure, bool hidden, double width, double height,
                   const DrawingColors& colors) {
  Drawing drawing = emptyDrawing("The text's tokens and their ids", width, height, colors);
  const std::vector<Frame> chips = addChips(drawing, figure, hidden, colors);
  const std::vector<TokenFigure::Entry>& entries = hidden ? figure.examples : figure.entries;
  std::vector<Index> followed = figure.compared;
  if (hidden) followed.assign(figure.example < 0 ? 0 : 1, figure.example);
  const double top = chips.back().bottom() + std::min(72.0, height * 0.16), left = width / 2 - 8,
               from = top + 18;
  drawing.shapes.push_back(
      TextRun{fmt::format("The vocabulary: {} tokens, each with its id", figure.vocabulary), width / 2, top,
              14, colors.secondary, Anchor::middle});
  const double high =
      std::clamp((height - from - 8) / (static_cast<double>(figure.entries.size()) + 1), 15.0, 30.0);
  const double size = std::clamp(high * 0.7, kLeastType, 18.0);
  std::vector<double> heights(entries.size());
  eachEntry(entries, from, high, [&](std::size_t i, double y) {
    const TokenFigure::Entry& entry = entries[i];
    const bool selected = haveId(figure, followed, entry.id);
    const render::Color& ink = !selected ? colors.secondary
                               : hidden  ? colors.text
                                         : inkOf(figure, entry.id, colors);
    if (selected) drawing.shapes.push_back(Box{{left - 70, y - high / 2, 160, high}, colors.raised, 0, 4});
    drawing.shapes.push_back(TextRun{idText(entry), left - 8, y, size, ink, Anchor::end, true, selected});
    drawing.shapes.push_back(TextRun{entry.word, left + 12, y, size, ink, Anchor::start, true, selected});
    heights[i] = y;
  });
  // From each token down to its line; those right of the list reach it from the right. Lines would cross
  // a second line of text.
  if (chips.back().y > 0) return drawing;
  for (const Index position : followed) {
    const TokenFigure::Entry& token = figure.at(position);
    const Frame& chip = chips[asSize(position)];
    const auto line = std::ranges::find(entries, token.id, &TokenFigure::Entry::id) - entries.begin();
    const double x = chip.x + chip.width / 2, y = heights[asSize(line)];
    const double end = x < width / 2 ? left - 76 : left + 96;
    // Above the heading, lines go outwards around it.
    const double turn = x < width / 2 ? std::min(x, width / 2 - 190) : std::max(x, width / 2 + 190);
    drawing.shapes.push_back(Polyline{
        {{x, chip.bottom() + 2}, {x, chip.bottom() + 12}, {turn, chip.bottom() + 12}, {turn, y}, {end, y}},
        hidden ? colors.text : inkOf(figure, token.id, colors),
        1.5});
  }
  return drawing;
}

namespace {

/// The whole table, small, with the rows that are shown enlarged marked, and the lines between both.
void addTable(Drawing& drawing, const TokenFigure& figure, const Frame& frame, double detail,
              const std::vector<double>& heights, const render::HeatmapStyle& style,
              const DrawingColors& colors) {
  const double high = frame.height / static_cast<double>(figure.table.rows());
  for (Index row = 0; row < figure.table.rows(); ++row)
    addCells(drawing, figure.table.row(row),
             {frame.x, frame.y + high * static_cast<double>(row), frame.width, high + 0.3}, style);
  drawing.shapes.push_back(TextRun{fmt::format("{} rows of {}", figure.vocabulary, figure.table.cols()),
                                   frame.x, frame.y - 9, kLeastType, colors.secondary});
  for (std::size_t i = 0; i < figure.entries.size(); ++i) {
    const Index id = figure.entries[i].id;
    if (!haveId(figure, figure.compared, id)) continue;
    const double y =
        frame.y + frame.height * (static_cast<double>(id) + 0.5) / static_cast<double>(figure.vocabulary);
    drawing.shapes.push_back(Box{{frame.x - 2, y - 2, frame.width + 4, 4}, inkOf(figure, id, colors), 1.2});
    drawing.shapes.push_back(Line{frame.right() + 3, y, detail, heights[i], colors.faint, 1});
  }
}

/// "the same row: all 96 differences are 0", or the largest difference between two tokens' rows and its
/// place.
struct Difference {
  std::string words;
  std::optional<Index> at;
};
Difference differenceOf(const TokenFigure& figure, Index a, Index b) {
  const attention::Vector apart = figure.rowOf(b) - figure.rowOf(a);
  Index at = 0;
  const float most = apart.cwiseAbs().maxCoeff(&at);
  if (most == 0) return {fmt::format("the same row: all {} differences are 0", apart.size()), std::nullopt};
  return {fmt::format("another row: numbers differ by up to {}", fixedText(double{most}, 3)), at};
}

}  // namespace

Drawing vectorsDrawing(const TokenFigure& figure, double width, double height, const DrawingColors& colors) {
  Drawing drawing = emptyDrawing("Rows of the embedding table", width, height, colors);
  const std::vector<Frame> chips = addChips(drawing, figure, false, colors);
  const render::HeatmapStyle style = numberStyleOf(figure, colors);
  const double names = 104, tableWide = std::clamp(width * 0.13, 60.0, 120.0);
  const double left = tableWide + 24 + names, wide = width - left;
  const double top = chips.back().bottom() + 34, bottom = height - 26;
  const auto lines = static_cast<double>(figure.entries.size()) + 1;
  const double high = std::clamp((bottom - top) * 0.3 / lines, 13.0, 22.0);
  std::vector<double> heights(figure.entries.size());
  double y = eachEntry(figure.entries, top, high, [&](std::size_t i, double middle) {
    const TokenFigure::Entry& entry = figure.entries[i];
    const bool selected = haveId(figure, figure.compared, entry.id);
    const render::Color& ink = selected ? inkOf(figure, entry.id, colors) : colors.secondary;
    const Frame frame{left, middle - high / 2 + 0.5, wide, high - 1};
    drawing.shapes.push_back(TextRun{entry.word + " " + idText(entry), left - 8, middle, kLeastType, ink,
                                     Anchor::end, true, selected});
    addCells(drawing, figure.rows.row(static_cast<Index>(i)), frame, style);
    if (selected) drawing.shapes.push_back(Box{frame, ink, 1.5});
    heights[i] = middle;
  });
  double longest = 0;
  for (const TokenFigure::Entry& entry : figure.entries)
    longest = std::max(longest, drawnWidth(entry.word + " " + idText(entry), kLeastType, true));
  addTable(drawing, figure, {0, top, tableWide, bottom - top}, left - 16 - longest, heights, style, colors);
  const auto count = static_cast<double>(figure.compared.size());
  const double each = (bottom - y - 10) / count;
  for (std::size_t i = 0; i < figure.compared.size(); ++i) {
    const Index position = figure.compared[i];
    const TokenFigure::Entry& token = figure.at(position);
    const render::Color& ink = inkOf(figure, token.id, colors);
    const Frame frame{left, y + 20, wide, each - 22};
    const double middle = frame.y + frame.height / 2;
    if (i > 0) {
      const Difference difference = differenceOf(figure, figure.compared.front(), position);
      const double number = wide / static_cast<double>(figure.rows.cols());
      if (difference.at)
        drawing.shapes.push_back(
            Box{{left + number * static_cast<double>(*difference.at), frame.y, number, frame.height},
                mixedColor(colors.background, colors.line, 0.8f)});
      drawing.shapes.push_back(
          TextRun{difference.words, width, y + 10, kLeastType, colors.secondary, Anchor::end});
    }
    addBars(drawing, figure.rowOf(position), frame, style.high, ink);
    drawing.shapes.push_back(TextRun{token.word, left - 8, middle - 8, 14, ink, Anchor::end, true, true});
    drawing.shapes.push_back(TextRun{fmt::format("position {}", position), left - 8, middle + 8, kLeastType,
                                     colors.secondary, Anchor::end});
    y += each;
  }
  addScale(drawing, height - 9, style, "a number in the table", colors);
  return drawing;
}

namespace {

/// The way that a hand has turned, as a spiral with a winding for each full turn.
void addTurn(Drawing& drawing, double x, double y, double radius, double from, double turned,
             const render::Color& color) {
  Polyline way{{}, color, 1.5};
  const int points = 2 + static_cast<int>(std::abs(turned) * 8);
  for (int i = 0; i <= points; ++i) {
    const double share = static_cast<double>(i) / points;
    way.points.push_back(onCircle(x, y, radius * (0.35 + 0.4 * share), from + turned * share));
  }
  drawing.shapes.push_back(std::move(way));
}

constexpr double kClockWords = 2 * kLeastType + 10;  ///< height of the words below a clock

/// A grid of clocks that are as large as possible.
struct ClockPlan {
  Index columns = 1, lines = 1, clocks = 1;
  double wide = 0, high = 0;  ///< of one with its words
};

/// The last clocks, which turn slowest, leave if none of all could be read.
ClockPlan planClocks(Index clocks, double width, double height) {
  constexpr double kWords = 125, kLeast = 60, kMargin = 12;  // width of the words; diameter; around a clock
  for (;; --clocks) {
    ClockPlan best;
    double most = -1;
    for (Index columns = 1; columns <= clocks; ++columns) {
      const Index lines = (clocks + columns - 1) / columns;
      const double wide = width / static_cast<double>(columns), high = height / static_cast<double>(lines);
      const double diameter = std::min(wide - kMargin, high - kClockWords - kMargin);
      if ((columns > 1 && wide < kWords) || diameter <= most) continue;
      most = diameter;
      best = {columns, lines, clocks, wide, std::min(high, wide + kClockWords)};
    }
    if (most >= kLeast || clocks == 1) return best;
  }
}

void addClock(Drawing& drawing, const TokenFigure& figure, const TokenFigure::Pair& pair, const Frame& frame,
              const DrawingColors& colors) {
  const double radius = std::min(frame.width / 2 - 6, (frame.height - kClockWords) / 2 - 4);
  const double x = frame.x + frame.width / 2, y = frame.y + radius + 4;
  Polyline circle{{}, colors.line, 1.5};
  constexpr int kSides = 48;
  for (int i = 0; i <= kSides; ++i)
    circle.points.push_back(onCircle(x, y, radius, 2 * std::numbers::pi * i / kSides));
  drawing.shapes.push_back(std::move(circle));
  const auto positions = static_cast<double>(figure.compared.back() - figure.compared.front());
  addTurn(drawing, x, y, radius, pair.angles.front(), positions * pair.step, colors.faint);
  addHand(drawing, x, y, radius, pair.angles.front(), colors.text);
  addHand(drawing, x, y, radius, pair.angles.back(), colors.query);
  const double degrees = pair.step * 180 / std::numbers::pi;
  drawing.shapes.push_back(TextRun{fmt::format("numbers {} and {}", pair.first, pair.second), x,
                                   frame.bottom() - kLeastType * 2, kLeastType, colors.secondary,
                                   Anchor::middle});
  drawing.shapes.push_back(
      TextRun{fmt::format("{} × {}° = {}°", figure.compared.back() - figure.compared.front(),
                          fixedText(degrees, 1), fixedText(positions * degrees, 0)),
              x, frame.bottom() - kLeastType * 0.7, kLeastType, colors.text, Anchor::middle, true});
}

}  // namespace

Drawing rotationDrawing(const TokenFigure& figure, double width, double height, const DrawingColors& colors) {
  Drawing drawing = emptyDrawing("A query turns with its position", width, height, colors);
  const std::vector<Frame> chips = addChips(drawing, figure, false, colors);
  double y = chips.back().bottom() + 20, x = 0;
  const auto hand = [&](Index position, const render::Color& color) {
    const std::string words = fmt::format("query of “{}” at position {}", figure.at(position).word, position);
    addHand(drawing, x, y, 26, 0, color);
    drawing.shapes.push_back(TextRun{words, x + 34, y, 14, colors.text});
    x += 34 + drawnWidth(words, 14, false) + 26;
  };
  hand(figure.compared.front(), colors.text);
  hand(figure.compared.back(), colors.query);
  y += 14;
  const ClockPlan plan = planClocks(static_cast<Index>(figure.pairs.size()), width, height - y);
  y += std::max(0.0, (height - y - plan.high * static_cast<double>(plan.lines)) / 2);
  for (Index i = 0; i < plan.clocks; ++i)
    addClock(drawing, figure, figure.pairs[asSize(i)],
             {plan.wide * static_cast<double>(i % plan.columns),
              y + plan.high * static_cast<double>(i / plan.columns), plan.wide, plan.high - 4},
             colors);
  return drawing;
}

}  // namespace headscope::app
