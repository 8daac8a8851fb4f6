#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/cache_picture.h"
#include "app/compute/drawings/drawing_parts.h"
#include "app/compute/drawings/drawings.h"
#include "app/scene/number_text.h"
#include "attention/cache/cost.h"

namespace headscope::app {

namespace {

constexpr double kStrip = 30, kStripGap = 4, kGroupGap = 10;

/// Tokens in the cache: all, or those decoded so far.
Index cachedTokens(const Scene& scene, const Snapshot& snapshot, Index tokens) {
  return scene.cursor.decoding && snapshot.causal ? std::clamp<Index>(scene.cursor.step, 1, tokens) : tokens;
}

std::string bytesLine(const Scene& scene, const Snapshot& snapshot, Index tokens) {
  const attention::AttentionConfig& config = snapshot.config;
  const auto bytes = attention::kvCacheBytes(config.kvHeads, config.headDim, tokens, scene.look.cacheBytes);
  return fmt::format("2 (K and V) · {} {} · {} dims · {} {} · {} B = {}{}", config.kvHeads,
                     config.kvHeads == 1 ? "KV head" : "KV heads", config.headDim,
                     countText(static_cast<std::uint64_t>(tokens)), tokens == 1 ? "token" : "tokens",
                     scene.look.cacheBytes, bytesText(static_cast<double>(bytes)),
                     snapshot.sequences.size() > 1 ? " for this line of the batch" : "");
}

render::HeatmapStyle stripStyle(const DrawingColors& colors, bool values) {
  render::HeatmapStyle style = drawnStyle(colors, 0);
  style.tint = render::Tint{colors.raised, values ? colors.value : colors.key};
  return style;
}

/// Largest value of each `factor` columns.
attention::Matrix pooledColumns(const attention::MatrixView& strip, Index tokens, Index factor) {
  attention::Matrix pooled(strip.rows(), (tokens + factor - 1) / factor);
  for (Index col = 0; col < pooled.cols(); ++col)
    pooled.col(col) =
        strip.middleCols(col * factor, std::min(factor, tokens - col * factor)).rowwise().maxCoeff();
  return pooled;
}

}  // namespace

Drawing cacheDrawing(const Scene& scene, const Snapshot& snapshot, const DrawingOptions& options) {
  const SequenceSnapshot* sequence = shownSequence(scene, &snapshot);
  attention::require(sequence != nullptr, "a drawing needs a computed sequence");
  const DrawingColors& colors = drawingColors(options.dark);
  const attention::Stack picture = cachePicture(sequence->attention);
  const auto all = static_cast<Index>(sequence->keys.size());
  const Index tokens = cachedTokens(scene, snapshot, std::max<Index>(sequence->keyLength, 1));
  Index factor = 1;
  while ((all + factor - 1) / factor > 1024) factor *= 2;
  const double column = std::max(
      1.0, std::min(64.0, std::floor(720 / (static_cast<double>(all) / static_cast<double>(factor)))));
  const double x = kMargin + 44, width = column * static_cast<double>((all + factor - 1) / factor);

  Drawing drawing;
  drawing.background = colors.background;
  drawing.title = fmt::format("KV cache of {} tokens, {} KV heads", tokens, snapshot.config.kvHeads);
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
    attention::Matrix cells = pooledColumns(picture[strip], tokens, factor);
    const double wide = column * static_cast<double>(cells.cols());
    drawing.shapes.push_back(Cells{{x, y, wide, kStrip}, std::move(cells), stripStyle(colors, values)});
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
  const ColourScale scale{scaleAt + 14, 44, 2 * kStrip + kStripGap + 4, "", "0", "", "largest"};
  addScale(drawing, colors, stripStyle(colors, true), scale);
  drawing.shapes.push_back(TextRun{"|k|, |v|", scaleAt, scale.y + 4, 10.5, colors.secondary});
  drawing.shapes.push_back(Ramp{{scaleAt, scale.y + 18, 12, scale.height - 18}, stripStyle(colors, false)});
  drawing.width = std::max(scaleAt + 14 + kScaleWidth, lineAt + drawnWidth(line, 11, false)) + kMargin;
  drawing.height = std::max(y + keyRoom(sequence->keys, 12), 150.0) + kMargin;
  return drawing;
}

}  // namespace headscope::app
