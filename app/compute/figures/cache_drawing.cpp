#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/compute/cache/cache_bytes.h"
#include "app/compute/cache/cache_cost.h"
#include "app/compute/cache/cache_picture.h"
#include "app/compute/cache/cache_studies.h"
#include "app/compute/cache/paging_study.h"
#include "app/compute/figures/drawing_parts.h"
#include "app/compute/figures/drawings.h"
#include "app/scene/enum_names.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"
#include "attention/cache/cost.h"
#include "attention/cache/model_cost.h"
#include "attention/core/extremes.h"

namespace headscope::app {

namespace {

constexpr Index kMostBands = 24;  ///< dimensions of a strip that are told apart
constexpr double kStrip = 30, kStripGap = 4, kGroupGap = 10;

/// Tokens in the cache: all, or those decoded so far.
Index cachedTokens(const Scene& scene, const Snapshot& snapshot, Index tokens) {
  return scene.cursor.decoding && snapshot.causal ? std::clamp<Index>(scene.cursor.step, 1, tokens) : tokens;
}

std::string bytesLine(const Scene& scene, const Snapshot& snapshot, Index tokens) {
  const attention::AttentionConfig& config = snapshot.config;
  if (config.latentDim > 0)
    return fmt::format("{} of a latent of {} + {} numbers = {}", tokenCountText(tokens), config.latentDim,
                       config.rotaryDim,
                       bytesText(latentCacheBytes(snapshot, tokens, scene.look.cacheBytes) /
                                 static_cast<double>(snapshot.sequences.size())));
  const auto bytes = attention::kvCacheBytes(config.kvHeads, config.headDim, tokens, scene.look.cacheBytes);
  return fmt::format("2 (K and V) · {} · {} · {} · {} B = {}{}", countedText(config.kvHeads, "kv head"),
                     countedText(config.headDim, "dim"), tokenCountText(tokens), scene.look.cacheBytes,
                     bytesText(static_cast<double>(bytes)),
                     snapshot.sequences.size() > 1 ? " for this line of the batch" : "");
}

}  // namespace

Drawing cacheDrawing(const Scene& scene, const Snapshot& snapshot, const DrawingOptions& options) {
  const SequenceSnapshot* sequence = shownSequence(scene, &snapshot);
  attention::require(sequence != nullptr, "a drawing needs a computed sequence");
  const DrawingColors& colors = drawingColors(options.dark);
  const auto all = static_cast<Index>(sequence->keys.size());
  const Index tokens = cachedTokens(scene, snapshot, std::max<Index>(sequence->keyLength, 1));
  Index factor = 1;
  while ((all + factor - 1) / factor > 1024) factor *= 2;
  const attention::Stack picture =
      cachePicture(sequence->attention, {cacheGrain(sequence->attention, kMostBands, all).dims, factor});
  const double column = std::max(
      1.0, std::min(64.0, std::floor(720 / (static_cast<double>(all) / static_cast<double>(factor)))));
  const double x = kMargin + 44, width = column * static_cast<double>((all + factor - 1) / factor);

  Drawing drawing;
  drawing.background = colors.background;
  drawing.title = fmt::format("KV cache of {}, {}", tokenCountText(tokens),
                              countedText(snapshot.config.kvHeads, "kv head"));
  drawing.shapes.push_back(TextRun{"KV cache", kMargin, 24, 15, colors.text, Anchor::start, false, true});
  const double lineAt = kMargin + drawnWidth("KV cache", 15, false) + 12;
  const std::string line = bytesLine(scene, snapshot, tokens);
  drawing.shapes.push_back(TextRun{line, lineAt, 24, 11, colors.secondary});
  double y = 48;
  for (Index strip = 0; strip < picture.count(); ++strip) {
    const bool values = strip % 2 == 1;
    drawing.shapes.push_back(TextRun{fmt::format("{} {}", values ? "V" : "K", strip / 2), x - 8,
                                     y + kStrip / 2, 11, values ? colors.value : colors.key, Anchor::end,
                                     true, true});
    attention::Matrix cells = picture[strip].leftCols((tokens + factor - 1) / factor);
    const double wide = column * static_cast<double>(cells.cols());
    drawing.shapes.push_back(Cells{{x, y, wide, kStrip}, std::move(cells), cacheStyle(colors, values)});
    // Between the tokens a line of background, where there is room for one.
    if (column >= 12)
      for (Index j = 1; j < tokens; ++j) {
        const double at = x + static_cast<double>(j) * column;
        drawing.shapes.push_back(Line{at, y, at, y + kStrip, colors.background, 2});
      }
    drawing.shapes.push_back(Box{{x, y, width, kStrip}, colors.line, 0.75});
    y += kStrip + (values ? kGroupGap : kStripGap);
  }
  const double each = column / static_cast<double>(factor);
  const auto step = static_cast<Index>(std::ceil(12 / each));
  for (Index j = 0; j < all; j += step)
    drawing.shapes.push_back(TextRun{cutToColumns(sequence->keys[static_cast<std::size_t>(j)].text, 24),
                                     x + (static_cast<double>(j) + 0.5) * each, y, 10,
                                     j < tokens ? colors.text : colors.faint, Anchor::start, true, false,
                                     60});
  drawing.shapes.push_back(TextRun{"key →", x - 8, y + 2, 11, colors.key, Anchor::end, false, true});
  const double scaleAt = x + width + 24;
  const ColourScale scale{scaleAt + 14, 44, 2 * kStrip + kStripGap + 4, "", "−max", "0", "+max"};
  addScale(drawing, colors, cacheStyle(colors, true), scale);
  drawing.shapes.push_back(TextRun{"k, v", scaleAt, scale.y + 4, 10.5, colors.secondary});
  drawing.shapes.push_back(Ramp{{scaleAt, scale.y + 18, 12, scale.height - 18}, cacheStyle(colors, false)});
  drawing.width = std::max(scaleAt + 14 + kScaleWidth, lineAt + drawnWidth(line, 11, false)) + kMargin;
  drawing.height = std::max(y + keyRoom(sequence->keys, 12), 150.0) + kMargin;
  return drawing;
}

namespace {

constexpr double kTile = 200, kTileGap = 28, kTilesTop = 84, kFigureLine = 17;

/// One of a room's pictures, and what is said below it.
struct RoomTile {
  std::string name, more;
  std::vector<std::pair<std::string, std::string>> figures;
  attention::Matrix cells = {};  ///< empty where it couldn't be computed
};

Drawing roomPage(const DrawingColors& colors, const std::string& title, const std::string& line) {
  Drawing drawing;
  drawing.background = colors.background;
  drawing.title = title;
  drawing.shapes.push_back(TextRun{title, kMargin, 24, 15, colors.text, Anchor::start, false, true});
  drawing.shapes.push_back(TextRun{line, kMargin, 46, 11, colors.secondary});
  drawing.width = kMargin * 2 + drawnWidth(line, 11, false);
  return drawing;
}

/// Side by side; returns where they end.
double addTiles(Drawing& drawing, const DrawingColors& colors, const std::vector<RoomTile>& tiles,
                const render::HeatmapStyle& style) {
  double x = kMargin, bottom = 0;
  for (const RoomTile& tile : tiles) {
    drawing.shapes.push_back(
        TextRun{tile.name, x, kTilesTop - 12, 12, colors.text, Anchor::start, false, true});
    drawing.shapes.push_back(TextRun{tile.more, x + drawnWidth(tile.name, 12, false) * 1.15 + 10,
                                     kTilesTop - 12, 10.5, colors.secondary});
    const Frame frame{x, kTilesTop, kTile, kTile};
    if (tile.cells.size() > 0) drawing.shapes.push_back(Cells{frame, tile.cells, style});
    drawing.shapes.push_back(Box{frame, colors.line, 0.75});
    double y = frame.bottom() + 18;
    for (const auto& [what, value] : tile.figures) {
      drawing.shapes.push_back(TextRun{what, x, y, 10.5, colors.secondary});
      drawing.shapes.push_back(TextRun{value, x + kTile, y, 10.5, colors.text, Anchor::end, true});
      y += kFigureLine;
    }
    bottom = std::max(bottom, y);
    x += kTile + kTileGap;
  }
  drawing.width = std::max(drawing.width, x - kTileGap + kMargin);
  drawing.height = bottom + kMargin - 8;
  return bottom;
}

/// A room's question about the line and the head that are in sight. The snapshot outlives it.
template <class Question>
Question askedOf(const Scene& scene, const Snapshot& snapshot) {
  Question question;
  question.snapshot = std::shared_ptr<const Snapshot>(std::shared_ptr<void>(), &snapshot);
  question.sequence = std::clamp<Index>(scene.cursor.sequence, 0, std::ssize(snapshot.sequences) - 1);
  question.head = std::clamp<Index>(scene.cursor.cell.head, 0, snapshot.config.heads - 1);
  return question;
}

std::string offText(double share) {
  return share > 0 ? percentText(share) : "0";
}

/// Weights on their colours from 0 to `most`.
render::HeatmapStyle weightStyle(const DrawingColors& colors, const Scene& scene, float most, Index side) {
  render::HeatmapStyle style = drawnStyle(colors, side <= 24 ? 1 : 0);
  style.colormap = scene.look.colormap;
  style.low = 0;
  style.high = std::max(most, 1e-6f);
  return style;
}

std::string headText(Index head) {
  return fmt::format("weights of head {}, query ↓ key →", head);
}

attention::Result<Drawing> drawShapes(const Scene& scene, const Snapshot& snapshot, Resources& resources,
                                      const DrawingColors& colors) {
  auto question = askedOf<ShapesQuestion>(scene, snapshot);
  question.kvHeads = mergedKvHeads(scene.setup, snapshot.config, scene.cost.cache.merged);
  question.latent = scene.cost.cache.latent;
  question.rotary = scene.cost.cache.rotary;
  const auto study = studyShapes(question, resources, {});
  if (!study) return study.error();
  std::vector<RoomTile> tiles;
  for (std::size_t i = 0; i < study->cases.size(); ++i) {
    const ShapeCase& one = study->cases[i];
    RoomTile tile{one.name, "", {}, {}};
    if (one.missing.empty()) {
      tile.more = one.kvHeads > 0  ? countedText(one.kvHeads, "kv head")
                  : one.rotary > 0 ? fmt::format("latent {} + {} rotary", one.latent, one.rotary)
                                   : fmt::format("latent {}", one.latent);
      tile.cells = study->weights[static_cast<Index>(i)];
      const std::uint64_t bytes = bytesPerToken(scene, one);
      tile.figures = {{"output error", i == 0 ? "0" : offText(one.output.all)},
                      {"cache per token", exactBytes(bytes)},
                      {"parameters", countText(one.parameters)}};
    } else {
      tile.more = "not computed";
    }
    tiles.push_back(std::move(tile));
  }
  Drawing drawing =
      roomPage(colors, "One layer, four shapes",
               "kv heads merged by their mean, and not trained since; " + headText(question.head));
  addTiles(drawing, colors, tiles, weightStyle(colors, scene, 1, study->weights.rows()));
  return drawing;
}

attention::Result<Drawing> drawPrecision(const Scene& scene, const Snapshot& snapshot, Resources& resources,
                                         const DrawingColors& colors) {
  const auto question = askedOf<PrecisionQuestion>(scene, snapshot);
  const auto study = studyPrecision(question, resources, {});
  if (!study) return study.error();
  std::vector<RoomTile> tiles;
  for (std::size_t i = 0; i < study->cases.size(); ++i) {
    const PrecisionCase& one = study->cases[i];
    tiles.push_back({std::string(attention::kNumberFormatNames[static_cast<std::size_t>(one.format)]),
                     exactBytes(one.bytes) + " per token",
                     {{"weights, most", one.weightError > 0 ? roundedText(one.weightError, 2) : "0"},
                      {"output error", offText(one.output.all)}},
                     study->differences[static_cast<Index>(i)]});
  }
  Drawing drawing = roomPage(colors, "The cache in fewer bits",
                             fmt::format("|Δ| of {}, logarithmic up to {}; keys and values quantised",
                                         headText(question.head), roundedText(study->mostDifference, 2)));
  render::HeatmapStyle style = weightStyle(colors, scene, study->mostDifference, study->differences.rows());
  style.logarithmic = true;
  style.low = style.high * 1e-4f;
  addTiles(drawing, colors, tiles, style);
  return drawing;
}

/// Lines over steps, from 0 on.
Plot linesOver(std::vector<PlotLine> lines, const char* axis) {
  Plot plot;
  plot.x.logarithmic = plot.y.logarithmic = false;
  plot.x.low = plot.y.low = plot.x.high = plot.y.high = 0;
  plot.x.title = axis;
  for (const PlotLine& line : lines)
    for (const PlotPoint& point : line.points) {
      plot.x.high = std::max(plot.x.high, point.x);
      plot.y.high = std::max(plot.y.high, point.y);
    }
  plot.x.high = std::max(plot.x.high, 1.0);
  if (plot.y.high <= 1e-5) plot.y.high = 1;
  const double every = std::max(1.0, std::ceil(plot.x.high / 8));
  for (int i = 0; i <= 8 && i * every <= plot.x.high; ++i)
    plot.x.ticks.push_back({i * every, fixedText(i * every, 0)});
  plot.lines = std::move(lines);
  return plot;
}

attention::Result<Drawing> drawEviction(const Scene& scene, const Snapshot& snapshot, Resources& resources,
                                        const DrawingColors& colors) {
  auto question = askedOf<EvictionQuestion>(scene, snapshot);
  const CacheSetup& cache = scene.cost.cache;
  question.rules = {
      attention::EvictionRules{static_cast<attention::EvictionPolicy>(cache.first), cache.budget, 1},
      attention::EvictionRules{static_cast<attention::EvictionPolicy>(cache.second), cache.budget, 1}};
  const auto study = studyEviction(question, resources, {});
  if (!study) return study.error();
  std::vector<RoomTile> tiles;
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < 2; ++i) {
    const EvictionCase& one = study->cases[i];
    const auto worst = [](const std::vector<double>& values) {
      return std::accumulate(values.begin(), values.end(), 0.0, attention::larger<double>);
    };
    const std::string name(attention::kEvictionNames[static_cast<std::size_t>(one.rules.policy)]);
    tiles.push_back({name,
                     "hatched: evicted",
                     {{"weight lost, worst token", offText(worst(one.massLost))},
                      {"output error, worst token", offText(worst(one.outputError))}},
                     study->weights[static_cast<Index>(i)]});
    PlotLine line{name, {}, i == 0 ? Dash::solid : Dash::dashed, i == 0};
    for (std::size_t at = 0; at < one.outputError.size(); ++at)
      line.points.push_back({static_cast<double>(at), one.outputError[at]});
    lines.push_back(std::move(line));
  }
  Drawing drawing = roomPage(colors, "Eviction",
                             fmt::format("kept of each kv head: {}; {}", countedText(cache.budget, "entry"),
                                         headText(question.head)));
  addTiles(drawing, colors, tiles, weightStyle(colors, scene, 1, study->weights.rows()));
  const double left = kMargin + 2 * (kTile + kTileGap) + 34;
  Plot plot = linesOver(std::move(lines), "query");
  for (const double share : {0.0, 0.5, 1.0})
    plot.y.ticks.push_back({share * plot.y.high, share > 0 ? percentText(share * plot.y.high) : "0"});
  drawing.shapes.push_back(
      TextRun{"output error", left, kTilesTop - 12, 12, colors.text, Anchor::start, false, true});
  addPlot(drawing, colors, {left, kTilesTop, 420, kTile}, plot);
  drawing.width = std::max(drawing.width, left + 420 + kMargin);
  drawing.height += kFigureLine;
  return drawing;
}

attention::Result<Drawing> drawPaging(const Scene& scene, const Snapshot& snapshot, Resources& resources,
                                      const DrawingColors& colors) {
  const CacheSetup& cache = scene.cost.cache;
  const auto study = studyPaging({cache.schedule, cache.block}, resources.memory);
  if (!study) return study.error();
  const auto numbers = static_cast<std::uint64_t>(2 * snapshot.config.kvHeads * snapshot.config.headDim);
  const double token = static_cast<double>(attention::bytesOf(numbers, cache.stored) *
                                           static_cast<std::uint64_t>(cache.layers));
  PlotLine used{"used", {}, Dash::dotted}, blocks{"in blocks", {}, Dash::solid, true},
      rooms{"contiguous", {}, Dash::dashed};
  for (std::size_t at = 0; at < study->steps.size(); ++at) {
    const attention::PagedStep& step = study->steps[at];
    if (step.running.empty()) break;  // all are done: lines end where their labels can be told apart
    const auto x = static_cast<double>(at);
    used.points.push_back({x, token * static_cast<double>(step.storedTokens)});
    blocks.points.push_back({x, token * static_cast<double>(step.usedBlocks * cache.block)});
    rooms.points.push_back({x, token * static_cast<double>(step.contiguousTokens)});
  }
  Plot plot = linesOver({used, blocks, rooms}, "step");
  plot.labelRoom = 140;
  for (const double share : {0.0, 0.5, 1.0})
    plot.y.ticks.push_back({share * plot.y.high, bytesText(share * plot.y.high)});
  Drawing drawing = roomPage(
      colors, "Paging",
      fmt::format("bytes at each step of the schedule, in blocks of {} tokens and in contiguous allocations",
                  cache.block));
  addPlot(drawing, colors, {kMargin + 40, kTilesTop - 10, 700, 300}, plot);
  drawing.width = std::max(drawing.width, kMargin * 2 + 740);
  drawing.height = kTilesTop + 310 + kMargin;
  return drawing;
}

}  // namespace

attention::Result<Drawing> cacheViewDrawing(const Scene& scene, const Snapshot& snapshot,
                                            Resources& resources, const DrawingOptions& options) {
  const DrawingColors& colors = drawingColors(options.dark);
  switch (scene.cursor.cacheView) {
    case CacheView::shapes:
      return drawShapes(scene, snapshot, resources, colors);
    case CacheView::precision:
      return drawPrecision(scene, snapshot, resources, colors);
    case CacheView::eviction:
      return drawEviction(scene, snapshot, resources, colors);
    case CacheView::paging:
      return drawPaging(scene, snapshot, resources, colors);
    case CacheView::growth:
      break;
  }
  return cacheDrawing(scene, snapshot, options);
}

}  // namespace headscope::app
