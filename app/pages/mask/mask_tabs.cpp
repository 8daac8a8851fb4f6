#include <fmt/core.h>

#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::mask_page {

namespace {

MapSpec mapOf(const char* name, Surface surface, std::string title, render::HeatmapStyle style, int factor) {
  MapSpec spec;
  spec.name = name;
  spec.surface = surface;
  spec.title = std::move(title);
  spec.style = std::move(style);
  spec.factor = factor;
  return spec;
}

MapSpec maskMap(const StudiedMask& mask, const char* name, Surface surface, const std::string& title,
                const State& page) {
  MapSpec spec = mapOf(name, surface, title, maskStyle(page.view), page.maskFactor);
  spec.aside = percentText(mask.statistics.density()) + " visible";
  if (page.maskFactor > 1)
    spec.aside += fmt::format(" · share of {} × {} cells", page.maskFactor, page.maskFactor);
  return spec;
}

Index shownHead(const Scene& scene, const SequenceSnapshot& sequence) {
  return std::min(scene.cursor.cell.head, sequence.attention.weights.count() - 1);
}

/// A map of weights with the same range as on the heads page; two compared masks share one scale.
MapSpec weightsMap(const Scene& scene, const SequenceSnapshot& sequence, const char* name, Surface surface,
                   const std::string& title, const State& page) {
  Look look = scene.look;
  look.quantity = Quantity::weights;
  MapSpec spec = mapOf(name, surface, title, styleFor(page.view, look), page.weightsFactor);
  if (spec.factor > 1) spec.title += " · " + pooledText(spec.factor);
  spec.scale = MapScale::weights;
  const Index head = shownHead(scene, sequence);
  spec.range = rangeFor(look, sequence.pictures, head);
  if (sequence.other && scene.cursor.studio.tab == StudioTab::compare)
    spec.range.high = std::max(spec.range.high, rangeFor(look, sequence.other->pictures, head).high);
  return spec;
}

/// A map of values around 0.
MapSpec signedMap(const char* name, Surface surface, const std::string& title, float extreme, int factor,
                  const View& view) {
  MapSpec spec = mapOf(name, surface, title, signedStyle(view), factor);
  spec.range.high = extreme > 0 ? extreme : 1;
  spec.range.low = -spec.range.high;
  spec.scale = MapScale::signedValues;
  return spec;
}

/// Draws a map of values around 0 with its scale, and a tooltip for the value under the pointer. If no cells
/// are pooled, `parts` returns the lines that explain the value.
void drawSigned(const MapSpec& spec, const SignedPicture& picture, const char* words, Scene& scene,
                State& page, const ImRect& area,
                const std::function<std::string(Index row, Index col)>& parts = nullptr) {
  View& view = page.view;
  const PointedMap map = drawMap(spec, scene, page, area);
  if (!map.cell || page.brush.painting) return;
  const Index row = map.cell->row / picture.factor, col = map.cell->col / picture.factor;
  if (row >= picture.values.rows() || col >= picture.values.cols()) return;
  const float value = picture.values(row, col);
  if (value == render::kMaskedCell || value == render::kDeadCell) return tooltip(view, "masked");
  std::string text = std::string(words) + ": " + (value > 0 ? "+" : "") + numberText(value, 3);
  if (picture.factor > 1)
    text += fmt::format(", largest magnitude of {} × {} cells", picture.factor, picture.factor);
  else if (const std::string lines = parts ? parts(row, col) : ""; !lines.empty())
    text += "\n" + lines;
  tooltip(view, text);
}

/// Draws a sentence in place of a map, saying why it isn't available.
void instead(const View& view, const ImRect& area, const std::string& text, std::uint32_t color) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float width = std::min(area.GetWidth() - view.px(40), view.px(420));
  const ImVec2 at(area.GetCenter().x - width / 2, area.Min.y + area.GetHeight() * 0.35f);
  paintParagraph(list, view.fonts->text, at, width, color, text);
}

void computing(const View& view, const ImRect& area) {
  instead(view, area, "Computing…", view.theme->secondary);
}

/// The title for the head of the answer, which is the head in the picture.
std::string headTitle(const char* what, const Setup& setup, Index head) {
  return std::string(what) + ", " + headWords(setup, head);
}

/// Draws what a figure of the mask needs without the window: the expression and a legend of the greys.
void figureWords(const Scene& scene, State& page, const MapSpec& spec, const ImRect& cells, ImVec2 at) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::MaskLayers layers = layersInForce(scene.setup, scene.setup.mask.layers);
  const std::string text = layers.empty() ? "full" : attention::maskText(layers);
  const float room = std::max(cells.Max.x - at.x + legendRoom(view), view.px(300));
  paintText(list, view.fonts->monoSmall, at, view.theme->secondary,
            fitted(view.fonts->monoSmall, text, room));
  view.figure->title = "Attention " + spec.title + ": " + text;
  const attention::Matrix& drawn = page.surface(spec.surface).values()[0];
  FigureLegend legend;
  legend.swatches = {{"visible", packed(spec.style.tint->high)}};
  legend.masked = (drawn.array() == render::kMaskedCell).any();
  legend.dead = (drawn.array() == render::kDeadCell).any();
  if (spec.factor > 1) legend.notes = {"visible share of", fmt::format("{0} × {0} cells", spec.factor)};
  paintLegend(view, list, ImVec2(cells.Max.x, cells.Min.y), cells.GetHeight(), legend);
}

}  // namespace

void maskTab(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& whole) {
  View& view = page.view;
  const StudiedMask* mask = editedStudy(scene, page);
  const bool alone = view.figure && view.figure->alone;
  ImRect area = whole;
  if (alone) area.Min.y += view.px(20);
  const std::vector<ImRect> columns = mapColumns(page, area, alone ? 1 : 2);
  const ImRect &left = columns.front(), &right = columns.back();
  const bool other = mask != &page.study->mask;
  if (mask->error) {
    instead(view, left, *mask->error, view.theme->error);
  } else {
    MapSpec spec =
        maskMap(*mask, "mask_map", other ? Surface::otherMask : Surface::mask,
                headTitle(other ? "Mask B" : "Mask", scene.setup, page.study->question.head), page);
    spec.paints = true;
    const PointedMap map = drawMap(spec, scene, page, left);
    if (map.cell && page.brush.tool == PaintTool::look)
      verdictTooltip(page, *mask, map.cell->row, map.cell->col);
    if (alone)
      figureWords(scene, page, spec, map.tile.area, ImVec2(map.tile.area.Min.x, whole.Min.y + view.px(10)));
  }
  if (alone) return;
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  if (snapshot && snapshot->error) return instead(view, right, snapshot->error->message, view.theme->error);
  const Surface surface = other ? Surface::otherWeights : Surface::weights;
  if (!sequence || page.surface(surface).empty() || (other && !sequence->other))
    return computing(view, right);
  MapSpec weights = weightsMap(scene, *sequence, "weights_map", surface,
                               other          ? "Weights under mask B"
                               : view.present ? "Weights"
                                              : "Resulting weights",
                               page);
  weights.rowLabels = false;
  const PointedMap map = drawMap(weights, scene, page, right);
  const attention::AttentionResult& shown = other ? sequence->other->attention : sequence->attention;
  if (map.cell && map.cell->row < shown.scores.rows() && map.cell->col < shown.scores.cols())
    cellTooltip(view, *sequence, shownHead(scene, *sequence), map.cell->row, map.cell->col, other);
}

void biasTab(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& area) {
  View& view = page.view;
  const std::vector<ImRect> columns = mapColumns(page, area, 2);
  const ImRect &left = columns[0], &right = columns[1];
  const HeadStudy* study = page.headStudy.get();
  if (snapshot && snapshot->error) return instead(view, left, snapshot->error->message, view.theme->error);
  if (!study || !snapshot) return computing(view, left);
  MapSpec bias = signedMap("bias_map", Surface::bias,
                           headTitle("Added to the scores", scene.setup, study->question.head),
                           study->bias.extreme, study->bias.factor, view);
  bias.paints = true;
  drawSigned(bias, study->bias, "added to the score", scene, page, left, [&](Index row, Index col) {
    const HeadQuestion& asked = study->question;
    const auto& sequence = asked.snapshot->sequences[static_cast<std::size_t>(asked.sequence)];
    return addedText(asked.snapshot->config, sequence.mask, asked.head, row, col);
  });
  if (!study->biased)
    return instead(
        view, right,
        "Nothing is added to the scores. Choose ALiBi or T5, set a soft-cap, or paint values with the brush.",
        view.theme->secondary);
  MapSpec effect = signedMap("effect_map", Surface::effect, "Change in the weights", study->effect.extreme,
                             study->effect.factor, view);
  effect.rowLabels = false;
  drawSigned(effect, study->effect, "change in weight", scene, page, right);
}

namespace {

/// Offers to create a second mask to compare with.
void offerSecondMask(Scene& scene, View& view, const ImRect& area) {
  if (!messageWithButton(view, area, "Two masks on the same tokens",
                         "Mask B starts as a copy of mask A. Change either to compare them.", "make_other",
                         "Create mask B"))
    return;
  scene.setup.mask.compare = true;
  scene.setup.mask.other = scene.setup.mask.layers;
  scene.cursor.studio.editsOther = true;
}

void wipeMap(Scene& scene, State& page, MapSpec a, const MapSpec& b, const ImRect& area) {
  View& view = page.view;
  a.title += " and B";
  a.aside = "A " + a.aside + ", B " + b.aside;
  const ImRect cells = mapCells(a, page, area);
  StudioCursor& studio = scene.cursor.studio;
  Canvas list = *ImGui::GetWindowDrawList();
  float x = cells.Min.x + studio.wipe * cells.GetWidth();
  // If two items overlap, the first one gets the pointer.
  hitArea("wipe", ImVec2(x - view.px(9), cells.Min.y), ImVec2(view.px(18), cells.GetHeight()));
  if (ImGui::IsItemActive())
    studio.wipe = std::clamp((ImGui::GetIO().MousePos.x - cells.Min.x) / cells.GetWidth(), 0.0f, 1.0f);
  const PointedMap map = drawMap(a, scene, page, area);
  x = std::round(cells.Min.x + studio.wipe * cells.GetWidth());
  HeatmapTile picture = pictureOf(map.tile, b.factor, b.range);
  picture.view.clip.x0 = x;
  if (x < cells.Max.x) view.heatmaps->draw(list, page.surface(b.surface), b.style, {picture});
  const LineTokens& line = *page.study->line();
  const Cell& cell = scene.cursor.cell;
  paintCrosshair(view, list, map.tile, cell.query, cell.key, std::ssize(line.queries), std::ssize(line.keys));
  paintSpot(view, list, "wipe",
            {ImVec2(x - view.px(1.5f), cells.Min.y), ImVec2(x + view.px(1.5f), cells.Max.y)},
            view.theme->text);
  list.AddCircleFilled(ImVec2(x, cells.GetCenter().y), view.px(9), view.theme->text, 24);
  const auto letter = [&](const char* text, float middle) {
    const float half = view.px(9), y = cells.Min.y + view.px(14);
    if (middle - half < cells.Min.x || middle + half > cells.Max.x) return;
    list.AddRectFilled(ImVec2(middle - half, y - half), ImVec2(middle + half, y + half),
                       view.theme->background, view.px(4));
    paintText(list, view.fonts->smallBold, ImVec2(middle, y), view.theme->text, text, Align::center);
  };
  letter("A", x - view.px(18));
  letter("B", x + view.px(18));
}

}  // namespace

void compareTab(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& area) {
  View& view = page.view;
  if (!scene.setup.mask.compare) return offerSecondMask(scene, view, area);
  const MaskStudy& study = *page.study;
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  if (study.mask.error || (study.other && study.other->error))
    return instead(view, area,
                   study.mask.error ? "Mask A: " + *study.mask.error : "Mask B: " + *study.other->error,
                   view.theme->error);
  if (snapshot && snapshot->error) return instead(view, area, snapshot->error->message, view.theme->error);
  if (!study.other || !sequence || !sequence->other || page.surface(Surface::otherWeights).empty())
    return computing(view, area);
  const bool weights = page.compareWeights;
  const std::string what = weights ? headTitle("weights", scene.setup, shownHead(scene, *sequence))
                                   : headTitle("mask", scene.setup, study.question.head);
  const MapSpec a = weights ? weightsMap(scene, *sequence, "a_map", Surface::weights, "A · " + what, page)
                            : maskMap(study.mask, "a_map", Surface::mask, "A · " + what, page);
  MapSpec b = weights ? weightsMap(scene, *sequence, "b_map", Surface::otherWeights, "B · " + what, page)
                      : maskMap(*study.other, "b_map", Surface::otherMask, "B · " + what, page);
  if (page.wipe) return wipeMap(scene, page, a, b, area);
  const auto [columns, stacked] = mapPlaces(a, page, area, 3);
  b.rowLabels = stacked;
  drawMap(a, scene, page, columns[0]);
  drawMap(b, scene, page, columns[1]);
  const HeadStudy* head = page.headStudy.get();
  if (weights && (!head || head->difference.values.size() == 0)) return computing(view, columns[2]);
  MapSpec difference =
      weights ? signedMap("difference_map", Surface::difference, "B − A", head->difference.extreme,
                          head->difference.factor, view)
              : signedMap("difference_map", Surface::difference, "B − A", 1, page.maskFactor, view);
  difference.rowLabels = stacked;
  if (weights) return drawSigned(difference, head->difference, "B − A", scene, page, columns[2]);
  drawMap(difference, scene, page, columns[2]);
}

}  // namespace headscope::app::mask_page
