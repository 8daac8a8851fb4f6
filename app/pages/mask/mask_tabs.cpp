#include <fmt/core.h>

#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::mask_page {

namespace {

using Titles = std::vector<std::string>;

MapSpec maskMap(const StudiedMask& mask, const char* name, Surface surface, Titles titles,
                const State& page) {
  MapSpec spec{.name = name,
               .surface = surface,
               .titles = std::move(titles),
               .style = maskStyle(page.view),
               .factor = page.maskFactor};
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
                   Titles titles, const State& page) {
  Look look = scene.look;
  look.quantity = Quantity::weights;
  const Index head = shownHead(scene, sequence);
  MapSpec spec{.name = name,
               .surface = surface,
               .titles = std::move(titles),
               .style = styleFor(page.view, look),
               .range = rangeFor(look, sequence.pictures, head),
               .scale = MapScale::weights,
               .factor = page.weightsFactor};
  if (spec.factor > 1)
    for (std::string& title : spec.titles) title += " · " + pooledText(spec.factor);
  if (sequence.other && scene.cursor.studio.tab == StudioTab::compare)
    spec.range.high = std::max(spec.range.high, rangeFor(look, sequence.other->pictures, head).high);
  return spec;
}

/// A map of values around 0.
MapSpec signedMap(const char* name, Surface surface, Titles titles, float extreme, int factor,
                  const View& view) {
  const float end = extreme > 0 ? extreme : 1;
  return {.name = name,
          .surface = surface,
          .titles = std::move(titles),
          .style = signedStyle(view),
          .range = {-end, end},
          .scale = MapScale::signedValues,
          .factor = factor};
}

/// The same with a tooltip for the value under the pointer. If no cells are pooled, `parts` returns the lines
/// that explain the value.
TabMap signedMap(const char* name, Surface surface, Titles titles, const SignedPicture& picture,
                 const char* words, State& page,
                 const std::function<std::string(Index row, Index col)>& parts = nullptr) {
  TabMap map{signedMap(name, surface, std::move(titles), picture.extreme, picture.factor, page.view)};
  map.pointed = [&picture, words, &page, parts](Index query, Index key) {
    const Index row = query / picture.factor, col = key / picture.factor;
    if (page.brush.painting || row >= picture.values.rows() || col >= picture.values.cols()) return;
    const float value = picture.values(row, col);
    if (value == render::kMaskedCell || value == render::kDeadCell) return tooltip(page.view, "masked");
    std::string text = std::string(words) + ": " + (value > 0 ? "+" : "") + numberText(value, 3);
    if (picture.factor > 1)
      text += fmt::format(", largest magnitude of {} × {} cells", picture.factor, picture.factor);
    else if (const std::string lines = parts ? parts(row, col) : ""; !lines.empty())
      text += "\n" + lines;
    tooltip(page.view, text);
  };
  return map;
}

TabMap instead(std::string text = "Computing…", bool isError = false) {
  return {.instead = std::move(text), .isError = isError};
}

/// The title for the head of the answer, which is the head in the picture.
Titles headTitles(const std::string& what, const Setup& setup, Index head) {
  return {what + ", " + headWords(setup, head), what};
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
  view.figure->title = "Attention " + spec.titles.front() + ": " + text;
  const attention::Matrix& drawn = page.surface(spec.surface).values()[0];
  FigureLegend legend;
  legend.swatches = {{"visible", packed(spec.style.tint->high)}};
  legend.masked = (drawn.array() == render::kMaskedCell).any();
  legend.dead = (drawn.array() == render::kDeadCell).any();
  if (spec.factor > 1) legend.notes = {"visible share of", fmt::format("{0} × {0} cells", spec.factor)};
  paintLegend(view, list, ImVec2(cells.Max.x, cells.Min.y), cells.GetHeight(), legend);
}

/// The edited mask.
TabMap editedMap(Scene& scene, State& page) {
  const StudiedMask& mask = *editedStudy(scene, page);
  const bool other = &mask != &page.study->mask;
  if (mask.error) return instead(*mask.error, true);
  TabMap map{maskMap(mask, "mask_map", other ? Surface::otherMask : Surface::mask,
                     headTitles(other ? "Mask B" : "Mask", scene.setup, page.study->question.head), page)};
  map.spec.paints = scene.cursor.studio.tab == StudioTab::mask;
  map.pointed = [&page, &mask, paints = map.spec.paints](Index query, Index key) {
    if (!paints || page.brush.tool == PaintTool::look) verdictTooltip(page, mask, query, key);
  };
  if (page.view.figure && page.view.figure->alone)
    map.figureWords = [&scene, &page, spec = map.spec](const ImRect& cells, ImVec2 at) {
      figureWords(scene, page, spec, cells, at);
    };
  return map;
}

/// The weights under the edited mask.
TabMap resultingWeights(const Scene& scene, const Snapshot* snapshot, State& page) {
  const bool other = editedStudy(scene, page) != &page.study->mask;
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  if (snapshot && snapshot->error) return instead(snapshot->error->message, true);
  const Surface surface = other ? Surface::otherWeights : Surface::weights;
  if (!sequence || page.surface(surface).empty() || (other && !sequence->other)) return instead();
  TabMap map{weightsMap(scene, *sequence, "weights_map", surface,
                        {other ? "Weights under mask B" : "Resulting weights", "Weights"}, page)};
  map.pointed = [&scene, &page, sequence, other](Index query, Index key) {
    const auto& scores = (other ? sequence->other->attention : sequence->attention).scores;
    if (query < scores.rows() && key < scores.cols())
      cellTooltip(page.view, *sequence, shownHead(scene, *sequence), query, key, other);
  };
  return map;
}

/// What is added to the head's scores, and what that changes.
std::vector<TabMap> biasMaps(const Scene& scene, const Snapshot* snapshot, State& page) {
  const HeadStudy* study = page.headStudy.get();
  if (snapshot && snapshot->error) return {instead(snapshot->error->message, true)};
  if (!study || !snapshot) return {instead()};
  TabMap bias = signedMap(
      "bias_map", Surface::bias, headTitles("Added to the scores", scene.setup, study->question.head),
      study->bias, "added to the score", page, [study](Index row, Index col) {
        const HeadQuestion& asked = study->question;
        const auto& sequence = asked.snapshot->sequences[static_cast<std::size_t>(asked.sequence)];
        return addedText(asked.snapshot->config, sequence.mask, asked.head, row, col);
      });
  bias.spec.paints = true;
  return {std::move(bias),
          study->biased ? signedMap("effect_map", Surface::effect, {"Change in the weights"}, study->effect,
                                    "change in weight", page)
                        : instead("Nothing is added to the scores. Choose ALiBi or T5, set a soft-cap, "
                                  "or paint values with the brush.")};
}

/// The maps of two masks or their weights, and their difference; a single sentence if there are none.
std::vector<TabMap> comparedMaps(Scene& scene, const Snapshot* snapshot, State& page) {
  const MaskStudy& study = *page.study;
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  if (study.mask.error) return {instead("Mask A: " + *study.mask.error, true)};
  if (study.other && study.other->error) return {instead("Mask B: " + *study.other->error, true)};
  if (snapshot && snapshot->error) return {instead(snapshot->error->message, true)};
  if (!study.other || !sequence || !sequence->other || page.surface(Surface::otherWeights).empty())
    return {instead()};
  const bool weights = page.compareWeights;
  const Index shown = weights ? shownHead(scene, *sequence) : study.question.head;
  const auto titles = [&](const std::string& letter) {
    return headTitles(letter + (weights ? " · weights" : " · mask"), scene.setup, shown);
  };
  if (!weights)
    return {{maskMap(study.mask, "a_map", Surface::mask, titles("A"), page)},
            {maskMap(*study.other, "b_map", Surface::otherMask, titles("B"), page)},
            {signedMap("difference_map", Surface::difference, {"B − A"}, 1, page.maskFactor, page.view)}};
  const HeadStudy* head = page.headStudy.get();
  return {{weightsMap(scene, *sequence, "a_map", Surface::weights, titles("A"), page)},
          {weightsMap(scene, *sequence, "b_map", Surface::otherWeights, titles("B"), page)},
          head && head->difference.values.size() > 0
              ? signedMap("difference_map", Surface::difference, {"B − A"}, head->difference, "B − A", page)
              : instead()};
}

void wipeMap(Scene& scene, State& page, MapSpec a, const MapSpec& b, const ImRect& area) {
  View& view = page.view;
  for (std::string& title : a.titles) title += " and B";
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

void tabMaps(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& area) {
  const StudioTab tab = scene.cursor.studio.tab;
  const bool two = tab == StudioTab::compare && scene.setup.mask.compare;
  std::vector<TabMap> maps =
      two ? comparedMaps(scene, snapshot, page)
      : tab == StudioTab::biases
          ? biasMaps(scene, snapshot, page)
          : std::vector<TabMap>{editedMap(scene, page), resultingWeights(scene, snapshot, page)};
  if (two && page.wipe && maps.size() > 1)
    return wipeMap(scene, page, std::move(maps[0].spec), maps[1].spec, area);
  drawMaps(std::move(maps), scene, page, area);
}

}  // namespace headscope::app::mask_page
