#include <fmt/core.h>

#include <algorithm>

#include "app/compute/figures/drawing_parts.h"
#include "app/compute/figures/drawings.h"
#include "app/compute/mask/mask_study.h"
#include "attention/masks/expression.h"

namespace headscope::app {

namespace {

/// Greys: a share of visible cells from dim to bright, as in the mask studio.
render::HeatmapStyle maskStyleFor(const DrawingColors& colors, bool dark, double cell) {
  render::HeatmapStyle style = drawnStyle(colors, cell >= 8 ? 1 : 0);
  style.tint = render::Tint{mixedColor(colors.background, colors.text, dark ? 0.22f : 0.18f),
                            mixedColor(colors.background, colors.text, dark ? 0.8f : 0.62f)};
  return style;
}

attention::Matrix maskCells(const SequenceSnapshot& sequence, Index head, Index factor) {
  const auto& formula = sequence.mask.formula;
  if (formula) return drawMask(*formula, formula->variantOf(head), factor);
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  return attention::Matrix::Ones((n + factor - 1) / factor, (m + factor - 1) / factor);
}

}  // namespace

Drawing maskDrawing(const Scene& scene, const Snapshot& snapshot, Index head, const DrawingOptions& options) {
  const SequenceSnapshot* sequence = shownSequence(scene, &snapshot);
  attention::require(sequence != nullptr, "a drawing needs a computed sequence");
  const DrawingColors& colors = drawingColors(options.dark);
  head = std::clamp<Index>(head, 0, snapshot.config.heads - 1);
  MatrixPanel panel;
  PanelRules rules;
  rules.largestCell = 26;
  panel.scale = panelScale(static_cast<Index>(sequence->queries.size()),
                           static_cast<Index>(sequence->keys.size()), rules);
  panel.x = kMargin + queryRoom(sequence->queries, panel.scale.query());
  panel.y = 76;
  panel.values = maskCells(*sequence, head, panel.scale.factor);
  panel.style = maskStyleFor(colors, options.dark, panel.scale.column);
  panel.queryTokens = &sequence->queries;
  panel.keyTokens = &sequence->keys;

  const bool many = sequence->mask.formula && sequence->mask.formula->variants() > 1;
  const attention::MaskLayers& layers = snapshot.setup.mask.layers;
  const std::string text = layers.empty() ? "full" : attention::maskText(layers);
  Drawing drawing;
  drawing.background = colors.background;
  drawing.title = fmt::format("Attention mask{}: {}", many ? fmt::format(" of head {}", head) : "", text);
  const double right = panel.x + panel.scale.width(), bottom = panel.y + panel.scale.height();
  const double foot = bottom + keyRoom(sequence->keys, panel.scale.key());
  drawing.width = std::max({right + 22 + kScaleWidth, right + keyOverhang(sequence->keys, panel.scale.key()),
                            kMargin + 200}) +
                  kMargin;
  drawing.height = foot + kMargin;
  drawing.shapes.push_back(TextRun{many ? fmt::format("Mask of head {}", head) : "Mask", kMargin, 22, 15,
                                   colors.text, Anchor::start, false, true});
  constexpr double kTextSize = 10.5;
  const auto columns = static_cast<std::size_t>((drawing.width - 2 * kMargin) / (kTextSize * 0.6));
  drawing.shapes.push_back(
      TextRun{cutToColumns(text, columns), kMargin, 44, kTextSize, colors.secondary, Anchor::start, true});
  double y = panel.y + 8;
  const auto word = [&](float value, const char* what) {
    addSwatch(drawing, colors, panel.style, value, what, right + 22, y);
    y += 20;
  };
  word(1, "visible");
  if (anyIs(panel.values, render::kMaskedCell)) word(render::kMaskedCell, "masked");
  if (anyIs(panel.values, render::kDeadCell)) word(render::kDeadCell, "sees no key");
  if (panel.scale.factor > 1)
    drawing.shapes.push_back(
        TextRun{fmt::format("each pixel the visible share of {0} × {0} cells", panel.scale.factor), panel.x,
                foot + 4, 9.5, colors.faint});
  drawing.height = std::max(drawing.height, y + kMargin);
  addPanel(drawing, colors, std::move(panel));
  return drawing;
}

}  // namespace headscope::app
