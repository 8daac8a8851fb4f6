#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/figures/drawing_parts.h"
#include "app/compute/figures/drawings.h"
#include "app/scene/text/number_text.h"
#include "attention/core/receipt.h"

namespace headscope::app {

namespace {

constexpr double kTitleSize = 12;

render::HeatmapStyle headStyle(const DrawingColors& colors, const Look& look, const HeadPictures& pictures,
                               Index head, double cell) {
  render::HeatmapStyle style = drawnStyle(colors, cell >= 8 ? 1 : 0);
  const ValueRange range = rangeFor(look, pictures, head);
  style.colormap = colormapFor(look);
  style.low = range.low;
  style.high = range.high;
  style.logarithmic = range.logarithmic;
  return style;
}

/// Rows that are there: all of them, or those decoded so far.
Index shownRows(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence) {
  const auto rows = static_cast<Index>(sequence.queries.size());
  return scene.cursor.decoding && snapshot.causal ? std::clamp<Index>(scene.cursor.step, 1, rows) : rows;
}

attention::Matrix shownCells(const SequenceSnapshot& sequence, Index head, const Look& look, Index factor,
                             Index rows) {
  const attention::Matrix all =
      drawHead(sequence.attention, sequence.values(look.quantity), head, static_cast<int>(factor));
  return all.topRows((rows + factor - 1) / factor);
}

/// "0.82", "−12.3": what a cell has room for. "0" is exactly that; a softmax is more everywhere, so that
/// below what two digits say there is nothing.
std::string cellNumber(float value, Quantity quantity) {
  if (quantity == Quantity::scores) return numberText(value, 3);
  if (value == 0 || value == 1) return weightText(value);
  const std::string text = fixedText(value, 2);
  return text == fixedText(0, 2) ? "" : text;
}

/// Writes the values into cells that are large enough.
void addNumbers(Drawing& drawing, const MatrixPanel& panel, Quantity quantity) {
  if (std::min(panel.scale.row, panel.scale.column) < 30) return;
  for (Index row = 0; row < panel.values.rows(); ++row)
    for (Index col = 0; col < panel.values.cols(); ++col) {
      const float value = panel.values(row, col);
      if (!std::isfinite(value) || value == render::kDeadCell) continue;
      const std::string text = cellNumber(value, quantity);
      if (text.empty()) continue;
      drawing.shapes.push_back(TextRun{text, panel.x + (static_cast<double>(col) + 0.5) * panel.scale.column,
                                       panel.y + (static_cast<double>(row) + 0.5) * panel.scale.row, 9.5,
                                       inkOver(cellColor(panel.style, value)), Anchor::middle, true});
    }
}

/// What the head is seen to do, with the score that can be checked in its cells.
std::string seenToDo(const Look& look, const SequenceSnapshot& sequence, Index head) {
  const auto h = static_cast<std::size_t>(head);
  const attention::HeadLabel label = sequence.label(head, look.labelThreshold);
  const std::string words = attention::describe(label);
  if (!label.detector) return words;
  return words + fmt::format(" {}", fixedText(sequence.profiles[h][label.detector->name].raw, 2));
}

/// "Head 3", the kv head it reads, and what it does; the units it takes.
double addTitle(Drawing& drawing, const DrawingColors& colors, const Look& look, const Snapshot& snapshot,
                const SequenceSnapshot& sequence, Index head, double x, double y, double size) {
  const std::string name = fmt::format("Head {}", head);
  drawing.shapes.push_back(TextRun{name, x, y, size, colors.text, Anchor::start, false, true});
  double at = x + drawnWidth(name, size, false) + size * 0.7;
  if (const Index kv = snapshot.config.kvHeadOf(head); snapshot.config.kvHeads < snapshot.config.heads) {
    const std::string group = fmt::format("KV {}", kv);
    drawing.shapes.push_back(TextRun{group, at, y, size * 0.8,
                                     colors.groups[static_cast<std::size_t>(kv) % colors.groups.size()],
                                     Anchor::start, false, true});
    at += drawnWidth(group, size * 0.8, false) + size * 0.7;
  }
  const std::string words = seenToDo(look, sequence, head);
  drawing.shapes.push_back(TextRun{words, at, y, size * 0.8, colors.secondary});
  return at + drawnWidth(words, size * 0.8, false) - x;
}

std::string quantityText(const Look& look) {
  return look.quantity == Quantity::scores    ? "score"
         : look.quantity == Quantity::dropped ? "weight after dropout"
                                              : "weight";
}

/// The scale of a head, or of many that each have their own.
void addHeadScale(Drawing& drawing, const DrawingColors& colors, const Look& look,
                  const render::HeatmapStyle& style, ColourScale scale, bool many) {
  scale.caption = quantityText(look);
  const bool weights = look.quantity != Quantity::scores;
  if (many && look.range == RangeMode::perHead) {
    scale.low = weights ? "0" : "head's min";
    scale.high = "head's max";
  } else {
    const auto text = [&](float value) { return weights ? roundedText(value, 3) : numberText(value, 3); };
    scale.low = style.logarithmic ? "10⁻⁴" : text(style.low);
    scale.high = text(style.high);
    scale.middle = style.logarithmic ? "10⁻²" : text((style.low + style.high) / 2);
  }
  addScale(drawing, colors, style, scale);
}

/// How cells were pooled, where they were.
void addPooled(Drawing& drawing, const DrawingColors& colors, Index factor, double x, double y) {
  if (factor > 1)
    drawing.shapes.push_back(
        TextRun{fmt::format("each pixel the largest of {0} × {0} cells", factor), x, y, 9.5, colors.faint});
}

constexpr double kSinkGap = 5, kSinkBar = 34, kSlimSinkBar = 12;

/// Units at the right of the cells, of a layer whose heads have sinks.
double sinkRoom(const Snapshot& snapshot, double bar) {
  return snapshot.config.sinks.empty() ? 0 : kSinkGap + bar;
}

/// What the head's sink takes of each row, as bars at the right of the cells; of pooled rows the mean.
void addSinkBars(Drawing& drawing, const DrawingColors& colors, const Snapshot& snapshot,
                 const SequenceSnapshot& sequence, Index head, const MatrixPanel& panel, double width) {
  if (snapshot.config.sinks.empty()) return;
  const double x = panel.x + panel.scale.width() + kSinkGap, high = panel.scale.row;
  const Index rows = std::ssize(sequence.queries), factor = panel.scale.factor;
  drawing.shapes.push_back(
      Box{{x, panel.y, width, high * static_cast<double>(panel.values.rows())}, colors.raised});
  const double gap = high > 8 ? 1 : 0;
  for (Index drawn = 0; drawn < panel.values.rows(); ++drawn) {
    const Index first = drawn * factor, last = std::min(rows, first + factor);
    double share = 0;
    for (Index row = first; row < last; ++row)
      share += static_cast<double>(attention::sinkShare(snapshot.config, sequence.attention, head, row)) /
               static_cast<double>(last - first);
    drawing.shapes.push_back(Box{{x, panel.y + static_cast<double>(drawn) * high + gap,
                                  width * std::clamp(share, 0.0, 1.0), high - 2 * gap},
                                 colors.secondary});
  }
}

const SequenceSnapshot& sequenceOf(const Scene& scene, const Snapshot& snapshot) {
  const SequenceSnapshot* shown = shownSequence(scene, &snapshot);
  attention::require(shown != nullptr, "a drawing needs a computed sequence");
  return *shown;
}

std::string titleText(const Snapshot& snapshot, const SequenceSnapshot& sequence, const Look& look,
                      const std::string& of) {
  const char* what = look.quantity == Quantity::scores    ? "scores"
                     : look.quantity == Quantity::dropped ? "weights after dropout"
                                                          : "weights";
  return fmt::format("Attention {} of {}, {} × {}{}", what, of,
                     countedText(std::ssize(sequence.queries), "query"),
                     countedText(std::ssize(sequence.keys), "key"), snapshot.causal ? ", causal" : "");
}

}  // namespace

Index pictureHead(const Scene& scene, Index heads) {
  const Index head = scene.cursor.focus >= 0 ? scene.cursor.focus : scene.cursor.cell.head;
  return std::clamp<Index>(head, 0, heads - 1);
}

Drawing headDrawing(const Scene& scene, const Snapshot& snapshot, Index head, const DrawingOptions& options) {
  const SequenceSnapshot& sequence = sequenceOf(scene, snapshot);
  const DrawingColors& colors = drawingColors(options.dark);
  head = std::clamp<Index>(head, 0, snapshot.config.heads - 1);
  Drawing drawing;
  drawing.background = colors.background;
  drawing.title = titleText(snapshot, sequence, scene.look, fmt::format("head {}", head));
  MatrixPanel panel;
  panel.scale =
      panelScale(static_cast<Index>(sequence.queries.size()), static_cast<Index>(sequence.keys.size()), {});
  panel.x = kMargin + queryRoom(sequence.queries, panel.scale.query());
  panel.y = 64;
  panel.values =
      shownCells(sequence, head, scene.look, panel.scale.factor, shownRows(scene, snapshot, sequence));
  panel.style = headStyle(colors, scene.look, sequence.pictures, head, panel.scale.column);
  panel.queryTokens = &sequence.queries;
  panel.keyTokens = &sequence.keys;
  const double sinks = sinkRoom(snapshot, kSinkBar);
  const double right = panel.x + panel.scale.width() + sinks, bottom = panel.y + panel.scale.height();
  const double title = addTitle(drawing, colors, scene.look, snapshot, sequence, head, kMargin, 24, 15);
  ColourScale scale{right + 22, panel.y - 4, std::clamp(panel.scale.height(), 60.0, 200.0)};
  scale.masked = anyIs(panel.values, render::kMaskedCell);
  scale.dead = anyIs(panel.values, render::kDeadCell);
  addHeadScale(drawing, colors, scene.look, panel.style, scale, false);
  const double foot = bottom + keyRoom(sequence.keys, panel.scale.key());
  addPooled(drawing, colors, panel.scale.factor, panel.x, foot + 4);
  drawing.width = std::max({kMargin + title, right + 22 + kScaleWidth,
                            right + keyOverhang(sequence.keys, panel.scale.key())}) +
                  kMargin;
  drawing.height = std::max(foot, scale.y + scale.height + 58) + kMargin;
  addPanel(drawing, colors, panel);
  addSinkBars(drawing, colors, snapshot, sequence, head, panel, kSinkBar);
  if (sinks > 0)
    drawing.shapes.push_back(
        TextRun{"sink", right - kSinkBar / 2, panel.y - 8, 9.5, colors.faint, Anchor::middle});
  addNumbers(drawing, panel, scene.look.quantity);
  return drawing;
}

namespace {

/// Columns that bring the picture nearest to the aspect, with no row left half empty where that can be.
Index columnsFor(Index heads, double width, double height, double aspect) {
  Index best = 1;
  double least = 1e300;
  for (Index columns = 1; columns <= heads; ++columns) {
    const Index rows = (heads + columns - 1) / columns;
    const double off = std::abs(
        std::log(static_cast<double>(columns) * width / (static_cast<double>(rows) * height) / aspect));
    const double cost = off + (heads % columns == 0 ? 0 : 0.5);
    if (cost < least) {
      least = cost;
      best = columns;
    }
  }
  return best;
}

PanelScale tileScale(const SequenceSnapshot& sequence, Index heads) {
  PanelRules rules;
  rules.side = 170;
  rules.largestCell = 22;
  rules.allLabelled = heads > 32 ? 0 : 32;
  rules.mostCells = 256;
  return panelScale(static_cast<Index>(sequence.queries.size()), static_cast<Index>(sequence.keys.size()),
                    rules);
}

/// Units of the longest line above a head: names don't run into the next head's.
double longestTitle(const Look& look, const Snapshot& snapshot, const SequenceSnapshot& sequence) {
  double longest = 0;
  Drawing measured;
  for (Index head = 0; head < snapshot.config.heads; ++head)
    longest = std::max(
        longest, addTitle(measured, drawingColors(false), look, snapshot, sequence, head, 0, 0, kTitleSize));
  return longest;
}

}  // namespace

Drawing headsDrawing(const Scene& scene, const Snapshot& snapshot, const DrawingOptions& options) {
  const SequenceSnapshot& sequence = sequenceOf(scene, snapshot);
  const DrawingColors& colors = drawingColors(options.dark);
  const Index heads = snapshot.config.heads, rows = shownRows(scene, snapshot, sequence);
  const PanelScale scale = tileScale(sequence, heads);
  constexpr double kTitle = 24, kGapX = 26, kGapY = 14;
  const double sinks = sinkRoom(snapshot, kSlimSinkBar);
  // Whole units, so that cells lie alike on the pixels of every head.
  const double tileWidth =
                   std::ceil(std::max(scale.width() + sinks, longestTitle(scene.look, snapshot, sequence))) +
                   kGapX,
               tileHeight = std::ceil(scale.height()) + kTitle + kGapY;
  const double left = kMargin + queryRoom(sequence.queries, scale.query());
  const Index columns = columnsFor(heads, tileWidth, tileHeight, options.aspect);
  Drawing drawing;
  drawing.background = colors.background;
  drawing.title = titleText(snapshot, sequence, scene.look, countedText(heads, "head"));
  bool masked = false, dead = false;
  for (Index head = 0; head < heads; ++head) {
    MatrixPanel panel;
    panel.scale = scale;
    panel.x = left + static_cast<double>(head % columns) * tileWidth;
    panel.y = 44 + static_cast<double>(head / columns) * tileHeight;
    panel.values = shownCells(sequence, head, scene.look, scale.factor, rows);
    panel.style = headStyle(colors, scene.look, sequence.pictures, head, scale.column);
    if (head % columns == 0) panel.queryTokens = &sequence.queries;
    if (head + columns >= heads) panel.keyTokens = &sequence.keys;
    masked = masked || anyIs(panel.values, render::kMaskedCell);
    dead = dead || anyIs(panel.values, render::kDeadCell);
    addTitle(drawing, colors, scene.look, snapshot, sequence, head, panel.x, panel.y - 13, kTitleSize);
    addSinkBars(drawing, colors, snapshot, sequence, head, panel, kSlimSinkBar);
    addPanel(drawing, colors, std::move(panel));
  }
  const Index lines = (heads + columns - 1) / columns;
  const double right = left + static_cast<double>(columns) * tileWidth - kGapX,
               bottom = 44 + static_cast<double>(lines) * tileHeight - kTitle - kGapY;
  ColourScale bar{right + 26, 40, std::clamp(scale.height(), 60.0, 200.0)};
  bar.masked = masked;
  bar.dead = dead;
  addHeadScale(drawing, colors, scene.look, headStyle(colors, scene.look, sequence.pictures, 0, scale.column),
               bar, true);
  const double foot = bottom + keyRoom(sequence.keys, scale.key());
  double below = bar.y + bar.height + 58;
  if (sinks > 0) {
    below += 18;
    drawing.shapes.push_back(Box{{bar.x, below - 14, kSlimSinkBar, 8}, colors.secondary});
    drawing.shapes.push_back(
        TextRun{"sink’s share", bar.x + kSlimSinkBar + 6, below - 10, 9.5, colors.faint});
  }
  addPooled(drawing, colors, scale.factor, left, foot + 4);
  drawing.width = right + 26 + kScaleWidth + kMargin;
  drawing.height = std::max(foot, below) + kMargin;
  return drawing;
}

}  // namespace headscope::app
