#include <algorithm>

#include "app/pages/mask/mask_state.h"
#include "app/widgets/paint.h"
#include "app/widgets/pattern_sliders.h"

namespace headscope::app::mask_page {

using attention::Layer;

namespace {

bool editsOther(const Scene& scene) {
  return scene.cursor.studio.editsOther && scene.setup.mask.compare;
}

}  // namespace

const SharedLayers& shownLayers(const Scene& scene) {
  return editsOther(scene) ? scene.setup.mask.other : scene.setup.mask.layers;
}

attention::MaskLayers& editedLayers(Scene& scene) {
  return (editsOther(scene) ? scene.setup.mask.other : scene.setup.mask.layers).edit();
}

const StudiedMask* editedStudy(const Scene& scene, const State& page) {
  const MaskStudy* study = page.study;
  if (!study || !study->line()) return nullptr;
  if (editsOther(scene)) return study->other ? &*study->other : nullptr;
  return &study->mask;
}

MaskedText maskedText(const State& page) {
  if (page.study && page.study->line()) {
    const attention::MaskGeometry& geometry = page.study->geometry;
    return {std::max<Index>(2, std::max(geometry.queries, geometry.keys)), &geometry};
  }
  const Snapshot* snapshot = page.snapshot.get();
  if (!snapshot || snapshot->sequences.empty()) return {};
  return {std::max<Index>(2, static_cast<Index>(snapshot->sequences.front().keys.size())), nullptr};
}

render::HeatmapStyle maskStyle(const View& view) {
  render::HeatmapStyle style = styleFor(view, Look{});
  const Theme& theme = *view.theme;
  style.tint = render::Tint{unpacked(mixed(theme.background, theme.text, theme.light ? 0.18f : 0.22f)),
                            unpacked(mixed(theme.background, theme.text, theme.light ? 0.62f : 0.8f))};
  return style;
}

render::HeatmapStyle signedStyle(const View& view) {
  Look look;
  look.quantity = Quantity::scores;
  look.scoreColormap = render::Colormap::diverging;
  return styleFor(view, look);
}

void verdictTooltip(State& page, const StudiedMask& mask, Index query, Index key) {
  View& view = page.view;
  // Use the layers from which the mask was compiled: the scene's may have changed already.
  const MaskSetup& studied = page.study->question.setup.mask;
  const attention::MaskLayers& layers = &mask == &page.study->mask ? studied.layers : studied.other;
  const LineTokens& line = *page.study->line();
  const auto word = [](const std::vector<attention::Token>& tokens, Index at) {
    return tokens[static_cast<std::size_t>(at)].text;
  };
  const attention::MaskFormula& whole = *mask.formula;
  std::string text = word(line.queries, query) + " → " + word(line.keys, key) + ": " +
                     (whole.visible(mask.variant, query, key) ? "visible" : "masked");
  for (std::size_t i = 0; i < std::min(layers.size(), mask.layers.size()); ++i) {
    if (!mask.layers[i]) continue;
    const attention::MaskFormula& alone = *mask.layers[i];
    const Index variant = alone.variantOf(std::min(page.study->question.head, alone.heads() - 1));
    text += std::string("\n") + (alone.visible(variant, query, key) ? "•  " : "–  ") + layerTitle(layers[i]) +
            (alone.visible(variant, query, key) ? " shows it" : " masks it");
  }
  tooltip(view, text);
}

}  // namespace headscope::app::mask_page
