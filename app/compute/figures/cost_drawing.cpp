#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "app/compute/cost/cost_plot.h"
#include "app/compute/cost/cost_words.h"
#include "app/compute/figures/drawing_parts.h"
#include "app/compute/figures/drawings.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

constexpr double kPageMargin = 24, kWidth = 1320, kInner = kWidth - 2 * kPageMargin;

/// A text over as many lines as it takes; the height below `y` where it ends.
double addParagraph(Drawing& drawing, const std::string& text, double x, double y, double width, double size,
                    const render::Color& color, bool bold = false) {
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) drawing.shapes.push_back(TextRun{line, x, y, size, color, Anchor::start, false, bold});
    y += size * 1.3;
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::string longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && drawnWidth(longer, size, false) > width) {
      flush();
      line = word;
    } else {
      line = longer;
    }
    at = end + 1;
  }
  flush();
  return y;
}

/// The page's large figures beside each other, each with its words, and the sentence below them.
double addAnswer(Drawing& drawing, const DrawingColors& colors, const CostFigures& figures) {
  constexpr double kDisplay = 32;
  const double y = kPageMargin + 18;
  double below = y;
  const auto figure = [&](double x, double width, const std::string& text, const std::string& words,
                          const render::Color& color) {
    drawing.shapes.push_back(TextRun{text, x, y, kDisplay, color, Anchor::start, false, true});
    below = std::max(below, addParagraph(drawing, words, x, y + 30, width, 11.5, colors.secondary));
  };
  figure(kPageMargin, 190, figures.shape.decodes ? fourDigitBytes(figures.cost.total) : "0 B", "KV cache",
         colors.text);
  figure(kPageMargin + 230, 520, verdictText(figures), verdictReason(figures),
         figures.fits() ? colors.value : colors.query);
  figure(kPageMargin + 800, kInner - 800, speedText(figures), speedReason(figures), colors.text);
  const std::string sentence = costSentence(figures);
  drawing.shapes.push_back(
      TextRun{sentence, kPageMargin, below + 12, 14, colors.text, Anchor::start, false, true});
  const double x = kPageMargin + drawnWidth(sentence, 14, false) * 1.12 + 16;
  below = addParagraph(drawing, costExplanation(figures), x, below + 12, kWidth - kPageMargin - x, 12,
                       colors.secondary);
  if (const std::string notes = costNotes(figures); !notes.empty())
    below = addParagraph(drawing, notes, kPageMargin, below + 4, kInner, 11.5, colors.query);
  return below;
}

render::Color kindColor(const DrawingColors& colors, attention::CacheKind kind) {
  using attention::CacheKind;
  if (kind == CacheKind::full) return colors.key;
  if (kind == CacheKind::window || kind == CacheKind::chunk)
    return mixedColor(colors.panel, colors.key, 0.45);
  if (kind == CacheKind::latent) return colors.value;
  if (kind == CacheKind::recurrent) return colors.query;
  if (kind == CacheKind::cross) return mixedColor(colors.panel, colors.value, 0.6);
  return colors.line;
}

/// Which layers hold what, and a line for each kind.
double addLayers(Drawing& drawing, const DrawingColors& colors, const CostFigures& figures,
                 const std::vector<CostLayers>& lines, double top) {
  const std::vector<attention::CacheKind> kinds = layerKinds(figures);
  const double each = std::min(kInner / static_cast<double>(kinds.size()), 22.0), gap = each > 5 ? 1.5 : 0;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    drawing.shapes.push_back(
        Box{{kPageMargin + each * static_cast<double>(i), top, each - gap, 20}, kindColor(colors, kinds[i])});
  double y = top + 36;
  for (const CostLayers& line : lines) {
    drawing.shapes.push_back(Box{{kPageMargin, y - 5, 10, 10}, kindColor(colors, line.kind)});
    drawing.shapes.push_back(TextRun{line.words, kPageMargin + 18, y, 12, colors.text});
    drawing.shapes.push_back(TextRun{line.bytes, kPageMargin + 330, y, 12, colors.text, Anchor::end, true});
    drawing.shapes.push_back(TextRun{line.product, kPageMargin + 350, y, 12, colors.secondary});
    y += 19;
  }
  return y;
}

void addBracket(Drawing& drawing, const DrawingColors& colors, double from, double to, double y,
                const std::string& text) {
  drawing.shapes.push_back(
      Polyline{{{from, y - 5}, {from, y}, {to, y}, {to, y - 5}}, colors.secondary, 0.75});
  drawing.shapes.push_back(TextRun{text, (from + to) / 2, y + 13, 11, colors.text, Anchor::middle, true});
}

/// The factors with signs between them, and what they come to.
double addProduct(Drawing& drawing, const DrawingColors& colors, const CostFigures& figures, double top) {
  constexpr double kNumber = 16, kSign = 40;
  const double y = top + 14;
  double x = kPageMargin, split = x, second = x, end = x;
  const auto sign = [&](const char* text) {
    drawing.shapes.push_back(TextRun{text, x + kSign / 2, y, kNumber, colors.faint, Anchor::middle});
    x += kSign;
  };
  bool first = true, before = true;
  for (const CostFactor& factor : costFactors(figures)) {
    if (!first) sign("×");
    if (!factor.perToken && before) second = x;
    const double width =
        std::max(drawnWidth(factor.value, kNumber, true), drawnWidth(factor.label, 11.5, false)) + 8;
    drawing.shapes.push_back(
        TextRun{factor.value, x + width / 2, y, kNumber, colors.text, Anchor::middle, true});
    drawing.shapes.push_back(
        TextRun{factor.label, x + width / 2, y + 21, 11.5, colors.secondary, Anchor::middle});
    x += width;
    if (factor.perToken) split = x;
    end = x;
    first = false;
    before = factor.perToken;
  }
  const double bracket = y + 39;
  const bool slides = figures.shape.window > 0;
  addBracket(drawing, colors, kPageMargin, split, bracket,
             slides
                 ? exactBytes(figures.cost.perToken / attention::asSize(figures.shape.layers)) +
                       " per token and layer"
                 : exactBytes(figures.cost.perToken) +
                       (figures.cost.perToken < 1024 ? "" : " = " + fourDigitBytes(figures.cost.perToken)) +
                       " per token");
  const auto tokens = slides ? attention::cachedTokens(figures.shape, figures.request.tokens)
                             : static_cast<std::uint64_t>(figures.request.tokens);
  addBracket(
      drawing, colors, second, end, bracket,
      countText(attention::saturatingTimes(tokens, static_cast<std::uint64_t>(figures.request.batch))) +
          " cached");
  sign("=");
  drawing.shapes.push_back(
      TextRun{exactBytes(figures.cost.total), x, y, kNumber, colors.text, Anchor::start, true, true});
  if (!figures.tooLarge())
    drawing.shapes.push_back(
        TextRun{"= " + fourDigitBytes(figures.cost.total), x, y + 21, 11.5, colors.secondary});
  if (figures.cost.reserved < attention::kTooManyBytes)
    drawing.shapes.push_back(TextRun{fmt::format("Blocks of {}: {} reserved, {} wasted",
                                                 figures.request.block, fourDigitBytes(figures.cost.reserved),
                                                 fourDigitBytes(figures.cost.reserved - figures.cost.total)),
                                     x, bracket + 13, 11.5, colors.secondary});
  return bracket + 34;
}

/// What one GPU holds, on an axis of bytes with the memory of the cards that are sold.
double addRuler(Drawing& drawing, const DrawingColors& colors, const CostFigures& figures,
                const CostCatalogue& catalogue, double top) {
  const std::string holds = costHolds(figures);
  drawing.shapes.push_back(
      TextRun{holds, kPageMargin, top + 8, 13.5, colors.text, Anchor::start, false, true});
  drawing.shapes.push_back(TextRun{costShare(figures),
                                   kPageMargin + drawnWidth(holds, 13.5, false) * 1.1 + 12, top + 8, 11.5,
                                   colors.secondary});
  drawing.shapes.push_back(
      TextRun{"90 % of a GPU is usable", kWidth - kPageMargin, top + 8, 11.5, colors.secondary, Anchor::end});
  const Frame bar{kPageMargin, top + 24, kInner, 28};
  drawing.shapes.push_back(Box{bar, colors.panel});
  double most = 200e9;
  const double least = std::max(figures.gpuBytes() * 1.05, usableBytes(figures.machine.memoryGb));
  while (!figures.tooLarge() && most < least) most *= 2;
  double x = bar.x;
  const auto segment = [&](const char* name, double bytes, const render::Color& color) {
    const double width = std::min(bytes / most * bar.width, bar.right() - x);
    if (width <= 0 || figures.tooLarge()) return;
    drawing.shapes.push_back(Box{{x, bar.y, width, bar.height}, color});
    const std::string label = std::string(name) + " " + fourDigitBytes(bytes);
    for (const std::string& words : {label, std::string(name)})
      if (drawnWidth(words, 11.5, false) * 1.1 < width - 6) {
        drawing.shapes.push_back(TextRun{words, x + width / 2, bar.y + bar.height / 2, 11.5, inkOver(color),
                                         Anchor::middle, false, true});
        break;
      }
    x += width;
  };
  const double cache = figures.serving.memory.cache;
  segment("weights", static_cast<double>(figures.cost.weightsPerGpu), colors.secondary);
  if (figures.shape.isLatent()) {
    segment("latent", cache, colors.key);
  } else if (!costLayers(figures).empty()) {
    segment("cache", cache, colors.key);
  } else {
    segment("K", cache / 2, colors.key);
    segment("V", cache / 2, colors.value);
  }
  segment("activations", figures.serving.memory.activations, colors.faint);
  std::set<double> sizes;
  for (const attention::Machine& machine : catalogue.machines) sizes.insert(machine.memoryGb);
  double lastEnd = -1e9;
  for (const double gb : sizes) {
    if (usableBytes(gb) > most) continue;
    const double at = bar.x + usableBytes(gb) / most * bar.width;
    const bool fits = !figures.tooLarge() && fitsInto(figures.gpuBytes(), gb);
    drawing.shapes.push_back(Line{at, fits ? bar.y - 3 : bar.bottom() - 4, at, bar.bottom() + 7,
                                  fits ? colors.text : colors.faint, fits ? 1.6 : 0.8});
    const std::string label = roundedText(gb) + " GB";
    const double half = drawnWidth(label, 10.5, true) / 2;
    const double middle = std::clamp(at, bar.x + half, bar.right() - half);
    if (middle - half < lastEnd + 6) continue;
    drawing.shapes.push_back(TextRun{label, middle, bar.bottom() + 16, 10.5,
                                     fits ? colors.text : colors.faint, Anchor::middle, true, fits});
    lastEnd = middle + half;
  }
  return bar.bottom() + 44;
}

double addCostPlot(Drawing& drawing, const DrawingColors& colors, const CostPlot& shown, const char* unit,
                   const Frame& frame) {
  const double title =
      addParagraph(drawing, shown.title, frame.x, frame.y, frame.width, 14, colors.text, true);
  drawing.shapes.push_back(TextRun{unit, frame.x, title + 1, 11.5, colors.secondary});
  const double top = title + 14;
  addPlot(drawing, colors, {frame.x, top, frame.width, frame.height - (top - frame.y)}, shown.plot);
  double y = frame.bottom() + 8;
  for (const std::string& note : shown.notes)
    y = addParagraph(drawing, note, frame.x, y, frame.width, 10, colors.secondary);
  return y;
}

}  // namespace

Drawing costDrawing(const CostSetup& setup, const CostFigures& figures, const CostCatalogue& catalogue,
                    const DrawingOptions& options) {
  const DrawingColors& colors = drawingColors(options.dark);
  Drawing drawing;
  drawing.background = colors.background;
  drawing.title = costSentence(figures);
  drawing.width = kWidth;
  double y = addAnswer(drawing, colors, figures) + 12;
  const std::vector<CostLayers> lines = costLayers(figures);
  if (!lines.empty())
    y = addLayers(drawing, colors, figures, lines, y) + 6;
  else if (figures.shape.decodes)
    y = addProduct(drawing, colors, figures, y) + 6;
  y = addRuler(drawing, colors, figures, catalogue, y);
  constexpr double kSpace = 40, kEach = (kInner - 2 * kSpace) / 3, kHigh = 330;
  const CostPlot roofline = rooflinePlot(figures);
  const char* memory = setup.memory == MemoryPlot::cache ? "Cache in GiB" : "n² matrices in GiB";
  const char* work = setup.work == WorkPlot::prefill ? "FLOPs of a prefill" : "FLOPs of a decode step";
  const double left[] = {kPageMargin, kPageMargin + kEach + kSpace, kPageMargin + 2 * (kEach + kSpace)};
  const double ends[] = {
      addCostPlot(drawing, colors, memoryPlot(setup, figures, catalogue), memory, {left[0], y, kEach, kHigh}),
      addCostPlot(drawing, colors, workPlot(setup, figures), work, {left[1], y, kEach, kHigh}),
      addCostPlot(drawing, colors, roofline, roofline.unit.c_str(), {left[2], y, kEach, kHigh})};
  drawing.height = *std::max_element(std::begin(ends), std::end(ends)) + kPageMargin - 6;
  return drawing;
}

}  // namespace headscope::app
