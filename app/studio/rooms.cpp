#include <algorithm>

#include "app/number_text.h"
#include "app/studio/studio.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/track.h"

namespace headscope::app {

namespace {

using Surface = HeatmapLayer::Surface;

MapSpec maskMap(const StudiedMask& mask, const char* name, Surface surface, const std::string& title,
                View& view) {
  MapSpec spec;
  spec.name = name;
  spec.surface = surface;
  spec.title = title;
  spec.aside = percentText(mask.statistics.density()) + " visible";
  if (view.studio.maskFactor > 1)
    spec.aside += " · share of " + std::to_string(view.studio.maskFactor) + " × " +
                  std::to_string(view.studio.maskFactor);
  spec.style = maskStyle(view);
  spec.factor = view.studio.maskFactor;
  return spec;
}

MapSpec weightsMap(const Scene& scene, const char* name, Surface surface, const std::string& title,
                   View& view) {
  MapSpec spec;
  spec.name = name;
  spec.surface = surface;
  spec.title = title;
  Look look = scene.look;
  look.quantity = Quantity::weights;
  spec.style = styleFor(view, look);
  spec.factor = view.studio.weightsFactor;
  if (spec.factor > 1) spec.title += " · " + pooledText(spec.factor);
  return spec;
}

/// Where a map would be, a sentence says why it isn't.
void instead(const View& view, const ImRect& area, const std::string& text, std::uint32_t color) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float width = std::min(area.GetWidth() - view.px(40), view.px(420));
  const ImVec2 at(area.GetCenter().x - width / 2, area.Min.y + area.GetHeight() * 0.35f);
  paintParagraph(list, view.fonts->text, at, width, color, text);
}

/// The weights' colours at the right of a map's title.
void weightBarFor(const Scene& scene, const View& view, const MapAnswer& map) {
  const ImRect& cells = map.tile.area;
  weightBar(view, scene.look.colormap, ImVec2(cells.Max.x, cells.Min.y - view.px(16)),
            std::min(view.px(150), cells.GetWidth() * 0.4f));
}

/// The weights' scale, and the numbers of the cell under the pointer.
void underWeights(const Scene& scene, const SequenceSnapshot& sequence, View& view, const MapAnswer& map) {
  weightBarFor(scene, view, map);
  const Index head = std::min(scene.cursor.cell.head, sequence.attention.weights.count() - 1);
  const bool inside = map.cell && map.cell->row < sequence.attention.weights.rows() &&
                      map.cell->col < sequence.attention.weights.cols();
  if (inside) cellTooltip(view, sequence, head, map.cell->row, map.cell->col);
}

std::string headTitle(const Scene& scene, const char* what) {
  return std::string(what) + ", head " + std::to_string(scene.cursor.cell.head);
}

}  // namespace

void maskRoom(Scene& scene, const Snapshot* snapshot, View& view, const ImRect& area) {
  const StudiedMask* mask = editedStudy(scene, view);
  const std::vector<ImRect> columns = mapColumns(view, area, 2);
  const ImRect &left = columns[0], &right = columns[1];
  if (mask->error) {
    instead(view, left, *mask->error, view.theme->error);
  } else {
    const bool other = mask != &view.studio.study->mask;
    MapSpec spec = maskMap(*mask, "mask_map", other ? Surface::otherMask : Surface::mask,
                           headTitle(scene, other ? "Mask B" : "Mask"), view);
    spec.paints = true;
    const MapAnswer map = drawMap(spec, scene, view, left);
    if (map.cell && view.studio.brush.tool == PaintTool::look)
      verdictTooltip(scene, view, *mask, editedLayers(scene), map.cell->row, map.cell->col);
  }
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  if (snapshot && snapshot->error) return instead(view, right, snapshot->error->message, view.theme->error);
  if (!sequence) return instead(view, right, "Computing…", view.theme->secondary);
  MapSpec weights = weightsMap(scene, "weights_map", Surface::weights, "Weights under it", view);
  weights.rowLabels = false;
  if (!view.heatmaps->surface(Surface::weights).empty())
    underWeights(scene, *sequence, view, drawMap(weights, scene, view, right));
}

void biasRoom(Scene& scene, const Snapshot* snapshot, View& view, const ImRect& area) {
  const std::vector<ImRect> columns = mapColumns(view, area, 2);
  const ImRect &left = columns[0], &right = columns[1];
  const HeadStudy* study = view.studio.headStudy;
  if (snapshot && snapshot->error) return instead(view, left, snapshot->error->message, view.theme->error);
  if (!study || !snapshot) return instead(view, left, "Computing…", view.theme->secondary);
  const auto signedMap = [&](const char* name, Surface surface, const std::string& title,
                             const SignedPicture& picture) {
    MapSpec spec;
    spec.name = name;
    spec.surface = surface;
    spec.title = title;
    spec.style = signedStyle(view);
    spec.high = picture.extreme > 0 ? picture.extreme : 1;
    spec.low = -spec.high;
    spec.factor = picture.factor;
    return spec;
  };
  const auto withBar = [&](const MapAnswer& map, const SignedPicture& picture) {
    const float width = std::min(view.px(150), map.tile.area.GetWidth() * 0.4f);
    signedBar(view, picture.extreme > 0 ? picture.extreme : 1,
              ImVec2(map.tile.area.Max.x, map.tile.area.Min.y - view.px(21)), width);
  };
  MapSpec bias = signedMap("bias_map", Surface::bias, headTitle(scene, "Added to the scores"), study->bias);
  bias.paints = true;
  withBar(drawMap(bias, scene, view, left), study->bias);
  if (!study->biased)
    return instead(view, right,
                   "Nothing is added to the scores yet: choose ALiBi or T5, set a soft-cap, or paint values "
                   "with the brush.",
                   view.theme->secondary);
  MapSpec effect = signedMap("effect_map", Surface::effect, "What that does to the weights", study->effect);
  effect.rowLabels = false;
  withBar(drawMap(effect, scene, view, right), study->effect);
}

namespace {

/// A second mask to compare with has to be made first.
void offerSecondMask(Scene& scene, View& view, const ImRect& area) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 at(area.GetCenter().x, area.Min.y + area.GetHeight() * 0.32f);
  paintText(list, view.fonts->title, at, view.theme->text, "Two masks on the same tokens", Align::center);
  paintText(list, view.fonts->text, ImVec2(at.x, at.y + view.px(28)), view.theme->secondary,
            "Mask B starts as a copy of the mask there is. Change either and see what moves.", Align::center);
  const std::string label = "Make mask B";
  ImGui::SetCursorScreenPos(
      ImVec2(at.x - textWidth(view.fonts->text, label) / 2 - view.px(11), at.y + view.px(52)));
  if (!button(view, "make_other", label)) return;
  scene.setup.mask.compare = true;
  scene.setup.mask.other = scene.setup.mask.layers;
  scene.cursor.studio.editsOther = true;
}

void wipeMap(Scene& scene, View& view, const MapSpec& a, const MapSpec& b, const ImRect& area) {
  const MapAnswer map = drawMap(a, scene, view, area);
  const ImRect& cells = map.tile.area;
  StudioCursor& studio = scene.cursor.studio;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float x = cells.Min.x + studio.wipe * cells.GetWidth();
  ImGui::SetCursorScreenPos(ImVec2(x - view.px(9), cells.Min.y));
  ImGui::SetItemAllowOverlap();
  ImGui::InvisibleButton("wipe", ImVec2(view.px(18), cells.GetHeight()));
  trackItem("wipe");
  if (ImGui::IsItemActive())
    studio.wipe = std::clamp((ImGui::GetIO().MousePos.x - cells.Min.x) / cells.GetWidth(), 0.0f, 1.0f);
  x = std::round(cells.Min.x + studio.wipe * cells.GetWidth());
  HeatmapTile picture;
  picture.view.target = {cells.Min.x, cells.Min.y, cells.Max.x, cells.Max.y};
  picture.view.clip = {x, cells.Min.y, cells.Max.x, cells.Max.y};
  const auto factor = static_cast<float>(b.factor);
  picture.view.firstRow = map.tile.row / factor;
  picture.view.firstCol = map.tile.col / factor;
  picture.view.rows = map.tile.rows / factor;
  picture.view.cols = map.tile.cols / factor;
  picture.low = b.low;
  picture.high = b.high;
  if (x < cells.Max.x) view.heatmaps->draw(list, b.surface, b.style, {picture});
  const auto n = static_cast<Index>(view.studio.study->line()->queries.size());
  const auto m = static_cast<Index>(view.studio.study->line()->keys.size());
  const Cell& chosen = scene.cursor.cell;
  paintCrosshair(view, list, map.tile, view.hover.query >= 0 ? view.hover.query : chosen.query,
                 view.hover.key >= 0 ? view.hover.key : chosen.key, n, m);
  list.AddRectFilled(ImVec2(x - view.px(1.5f), cells.Min.y), ImVec2(x + view.px(1.5f), cells.Max.y),
                     view.theme->text);
  list.AddCircleFilled(ImVec2(x, cells.GetCenter().y), view.px(9), view.theme->text, 24);
  paintText(list, view.fonts->smallBold, ImVec2(x - view.px(14), cells.Min.y + view.px(14)), view.theme->text,
            "A", Align::right);
  paintText(list, view.fonts->smallBold, ImVec2(x + view.px(14), cells.Min.y + view.px(14)), view.theme->text,
            "B");
}

}  // namespace

void compareRoom(Scene& scene, const Snapshot* snapshot, View& view, const ImRect& area) {
  if (!scene.setup.mask.compare) return offerSecondMask(scene, view, area);
  const MaskStudy& study = *view.studio.study;
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  if (study.mask.error || (study.other && study.other->error))
    return instead(view, area,
                   study.mask.error ? "Mask A: " + *study.mask.error : "Mask B: " + *study.other->error,
                   view.theme->error);
  if (snapshot && snapshot->error) return instead(view, area, snapshot->error->message, view.theme->error);
  if (!study.other || !sequence || !sequence->other || view.heatmaps->surface(Surface::otherWeights).empty())
    return instead(view, area, "Computing…", view.theme->secondary);
  const bool weights = view.studio.compareWeights;
  const MapSpec a = weights ? weightsMap(scene, "a_map", Surface::weights, "A · weights", view)
                            : maskMap(study.mask, "a_map", Surface::mask, "A · mask", view);
  const MapSpec b = weights ? weightsMap(scene, "b_map", Surface::otherWeights, "B · weights", view)
                            : maskMap(*study.other, "b_map", Surface::otherMask, "B · mask", view);
  const auto withBar = [&](const MapAnswer& map) {
    if (weights) weightBarFor(scene, view, map);
  };
  if (view.studio.wipe) return wipeMap(scene, view, a, b, area);
  const std::vector<ImRect> columns = mapColumns(view, area, 3);
  MapSpec second = b;
  second.rowLabels = false;
  withBar(drawMap(a, scene, view, columns[0]));
  withBar(drawMap(second, scene, view, columns[1]));
  const HeadStudy* head = view.studio.headStudy;
  if (!head || head->difference.values.size() == 0)
    return instead(view, columns[2], "Computing…", view.theme->secondary);
  MapSpec difference;
  difference.name = "difference_map";
  difference.surface = Surface::difference;
  difference.title = "B − A";
  difference.rowLabels = false;
  difference.style = signedStyle(view);
  difference.high = head->difference.extreme > 0 ? head->difference.extreme : 1;
  difference.low = -difference.high;
  difference.factor = head->difference.factor;
  const MapAnswer map = drawMap(difference, scene, view, columns[2]);
  signedBar(view, difference.high, ImVec2(map.tile.area.Max.x, map.tile.area.Min.y - view.px(21)),
            std::min(view.px(130), map.tile.area.GetWidth() * 0.5f));
}

}  // namespace headscope::app
