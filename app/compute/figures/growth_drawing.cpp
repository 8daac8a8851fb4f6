#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/cache/cache_bytes.h"
#include "app/compute/cache/cache_field.h"
#include "app/compute/cost/cost_figures.h"
#include "app/compute/figures/drawing_parts.h"
#include "app/compute/figures/drawings.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"
#include "attention/cache/model_cost.h"

namespace headscope::app {

namespace {

using attention::AttentionConfig;

constexpr double kLabels = 48, kStairs = 120;

/// Where tokens and heads stand: every head of MHA has a slot of its own, and kv heads fill the first of
/// their group's.
struct GrowthPlan {
  Index tokens = 0, now = 0, heads = 1, kvHeads = 1;
  double left = 0, top = 0, column = 1, slot = 1;
  double x(Index token) const { return left + column * static_cast<double>(token); }
  double y(Index head) const { return top + slot * static_cast<double>(head); }
  Index group() const { return heads / kvHeads; }
};

void addBands(Drawing& drawing, const DrawingColors& colors, const CacheField& field,
              const GrowthPlan& plan) {
  const double half = (plan.slot - 4) / 2, all = plan.x(plan.tokens) - plan.left;
  for (Index head = 0; head < plan.heads; ++head) {
    const double y = plan.y(head);
    if (head % plan.group() != 0) {
      drawing.shapes.push_back(Box{{plan.left, y, all, 2 * half}, colors.line, 0.5});
      continue;
    }
    const Index kvHead = head / plan.group();
    for (const bool values : {false, true}) {
      const double from = y + (values ? half : 0);
      const attention::MatrixView picture = field.picture[2 * kvHead + values];
      const Index shown =
          std::min<Index>((plan.now + field.grain.tokens - 1) / field.grain.tokens, picture.cols());
      if (shown > 0)
        drawing.shapes.push_back(Cells{
            {plan.left, from,
             plan.column * static_cast<double>(std::min(shown * field.grain.tokens, plan.tokens)), half},
            picture.leftCols(shown),
            cacheStyle(colors, values)});
      if (plan.slot >= 20)
        drawing.shapes.push_back(TextRun{values ? "V" : "K", plan.left - 8, from + half / 2, 10,
                                         values ? colors.value : colors.key, Anchor::end, true, true});
    }
    drawing.shapes.push_back(Box{{plan.left, y, all, 2 * half}, colors.line, 0.75});
    drawing.shapes.push_back(TextRun{fmt::format("KV {}", kvHead), kMargin, y + half, 10, colors.secondary});
  }
}

void addTokens(Drawing& drawing, const DrawingColors& colors, const SequenceSnapshot& sequence,
               const GrowthPlan& plan, double y) {
  const auto step = static_cast<Index>(std::ceil(46 / plan.column));
  for (Index token = 0; token < plan.tokens; token += step)
    drawing.shapes.push_back(TextRun{cutToColumns(sequence.keys[static_cast<std::size_t>(token)].text, 10),
                                     plan.x(token) + plan.column / 2, y, 10,
                                     token < plan.now ? colors.text : colors.faint, Anchor::middle, true});
}

/// Bytes after each token on one scale, MHA's at the end.
void addStairs(Drawing& drawing, const DrawingColors& colors, const AttentionConfig& config,
               const CacheBytes& bytes, const GrowthPlan& plan, double top) {
  const double bottom = top + kStairs, most = static_cast<double>(std::max<std::uint64_t>(bytes.mha, 1)) *
                                              static_cast<double>(std::max<Index>(plan.tokens, 1));
  double labelled = -1e9;
  const auto stairs = [&](const char* name, std::uint64_t each, render::Color color, double width) {
    const auto y = [&](Index tokens) {
      return bottom - static_cast<double>(each) * static_cast<double>(tokens) / most * kStairs;
    };
    Polyline line;
    line.color = color;
    line.width = width;
    for (Index token = 0; token < plan.now; ++token) {
      line.points.push_back({plan.x(token), y(token + 1)});
      line.points.push_back({plan.x(token + 1), y(token + 1)});
    }
    if (!line.points.empty()) drawing.shapes.push_back(std::move(line));
    const double at = std::max(y(plan.now), labelled + 14);
    labelled = at;
    drawing.shapes.push_back(TextRun{
        fmt::format("{} {}", name,
                    fourDigitBytes(attention::saturatingTimes(each, static_cast<std::uint64_t>(plan.now)))),
        plan.x(plan.tokens) + 10, at, 11, color, Anchor::start, false, width > 1.5});
  };
  drawing.shapes.push_back(Line{plan.left, bottom, plan.x(plan.tokens), bottom, colors.line, 0.75});
  const bool latent = config.latentDim > 0;
  if (latent || config.kvHeads != config.heads) stairs("MHA", bytes.mha, colors.secondary, 1.2);
  stairs(latent ? "MLA" : kindName(config.heads, config.kvHeads), bytes.own, colors.text, 2.4);
  if (latent || config.kvHeads != 1) stairs("MQA", bytes.mqa, colors.secondary, 1.2);
}

}  // namespace

Drawing growthDrawing(const Scene& scene, const Snapshot& snapshot, const DrawingOptions& options) {
  const SequenceSnapshot* sequence = shownSequence(scene, &snapshot);
  attention::require(sequence != nullptr, "a drawing needs a computed sequence");
  const DrawingColors& colors = drawingColors(options.dark);
  const AttentionConfig& config = snapshot.config;
  const CacheBytes bytes = bytesPerToken(scene, config);
  GrowthPlan plan{
      .tokens = std::max<Index>(sequence->keyLength, 1), .heads = config.heads, .kvHeads = config.kvHeads};
  plan.now = scene.cursor.decoding && snapshot.causal ? std::clamp<Index>(scene.cursor.step, 1, plan.tokens)
                                                      : plan.tokens;
  plan.left = kMargin + kLabels;
  plan.top = 92;
  plan.column = std::clamp(720 / static_cast<double>(plan.tokens), 0.7, 64.0);
  plan.slot = std::clamp(400 / static_cast<double>(plan.heads), 8.0, 44.0);
  // The snapshot outlives the drawing of it: nobody has to own it here.
  const std::shared_ptr<const Snapshot> borrowed(std::shared_ptr<void>(), &snapshot);
  const CacheField field =
      makeCacheField({borrowed, sequence - snapshot.sequences.data(), scene.cost.cache.stored,
                      std::max<Index>(1, static_cast<Index>(plan.slot / 2)), 1024});
  Drawing drawing;
  drawing.background = colors.background;
  const std::string total =
      fourDigitBytes(attention::saturatingTimes(bytes.own, static_cast<std::uint64_t>(plan.now)));
  drawing.title = "KV cache, " + total;
  drawing.shapes.push_back(TextRun{total, kMargin, 34, 30, colors.text, Anchor::start, false, true});
  const double beside = kMargin + drawnWidth(total, 30, false) + 24;
  const std::string words = shareText(config, bytes);
  const Index layers = std::max<Index>(scene.cost.cache.layers, 1);
  const std::string rest =
      fmt::format("{} of {} · each adds {} · {}{}", countText(static_cast<std::uint64_t>(plan.now)),
                  tokenCountText(plan.tokens), fourDigitBytes(bytes.own),
                  attention::kNumberFormatNames[static_cast<std::size_t>(scene.cost.cache.stored)],
                  layers == 1 ? "" : fmt::format(" · {} like this one", countedText(layers, "layer")));
  drawing.shapes.push_back(TextRun{words, beside, 24, 15, colors.text, Anchor::start, false, true});
  drawing.shapes.push_back(TextRun{rest, beside, 46, 11, colors.secondary});
  addBands(drawing, colors, field, plan);
  const double axis = plan.y(plan.heads) + 10;
  addTokens(drawing, colors, *sequence, plan, axis);
  addStairs(drawing, colors, config, bytes, plan, axis + 24);
  for (const bool values : {false, true}) {
    const double x = plan.x(plan.tokens) + 10, y = plan.top + (values ? 26 : 8);
    drawing.shapes.push_back(TextRun{"−", x, y, 11, colors.secondary});
    drawing.shapes.push_back(Ramp{{x + 12, y - 5, 80, 10}, cacheStyle(colors, values), false});
    drawing.shapes.push_back(TextRun{values ? "+ values" : "+ keys", x + 98, y, 11, colors.secondary});
  }
  drawing.width = std::max(plan.x(plan.tokens) + 170,
                           beside + std::max(drawnWidth(words, 15, false), drawnWidth(rest, 11, false))) +
                  kMargin;
  drawing.height = axis + 24 + kStairs + 24;
  return drawing;
}

}  // namespace headscope::app
