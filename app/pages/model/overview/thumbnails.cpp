// Thumbnails of all heads of all layers, with their labels and marks and the numbers next to them.

#include <fmt/core.h>

#include "app/pages/model/overview/overview_parts.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "attention/core/extremes.h"

namespace headscope::app::model_page {

namespace {

bool filteredOut(const Scene& scene, const HeadSummary& head) {
  const std::string& wanted = scene.cursor.model.detector;
  return !wanted.empty() && filterName(head.label(scene.look.labelThreshold)) != wanted;
}

/// What the overlays of all rows have in common.
struct Overlay {
  const Scene& scene;
  const OverviewPlan& plan;
  const HeadLosses* losses;  ///< or null
};

/// The step between numbers at this pitch if each needs `room`: 1 writes all of them.
Index numberStep(float pitch, float room) {
  return pitch >= room ? 1 : pitch >= room / 2 ? 4 : 8;
}

void paintHeadNumbers(const View& view, const OverviewPlan& plan, const Scene& scene,
                      const ShownModel& model) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Cursor& cursor = scene.cursor;
  if (cursor.model.byScore && !cursor.model.detector.empty()) return;
  const Index step = numberStep(plan.pitch, view.px(25));
  const float y = plan.top - view.px(10);
  for (Index h = 0; h < plan.heads; ++h) {
    const bool lit = h == cursor.cell.head;
    const float x = plan.tile(0, h).GetCenter().x;
    if ((h % step != 0 && !lit) || x < plan.map.Min.x || x > plan.map.Max.x) continue;
    const bool free = std::abs(h - cursor.cell.head) * plan.pitch >= view.px(22);
    if (lit || step == 1 || free)
      paintText(list, lit ? view.fonts->smallBold : view.fonts->monoSmall, ImVec2(x, y),
                lit ? view.theme->text : view.theme->faint,
                plan.pitch > view.px(110) ? fmt::format("head {}", h) : std::to_string(h), Align::center);
  }
  // Heads that share a kv head have a line in its colour above them.
  if (model.config->kvHeads == model.config->heads) return;
  const Index group = model.config->heads / model.config->kvHeads;
  for (Index g = 0; g < model.config->kvHeads; ++g) {
    const float from = std::max(plan.tile(0, g * group).Min.x, plan.map.Min.x);
    const float to = std::min(plan.tile(0, g * group + group - 1).Max.x, plan.map.Max.x);
    if (to > from)
      list.AddRectFilled(ImVec2(from, plan.top - view.px(3)), ImVec2(to, plan.top - view.px(1)),
                         groupColor(*view.theme, g));
  }
}

void paintLayerNumbers(const View& view, const OverviewPlan& plan, const Scene& scene) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Index chosen = scene.cursor.model.layer, step = numberStep(plan.rowPitch, view.px(15));
  const float x = plan.left - view.px(8);
  paintText(list, view.fonts->small, ImVec2(x, plan.top - view.px(10)), view.theme->faint,
            plan.pitch > view.px(40) && !plan.band ? "layer" : "", Align::right);
  for (Index l = 0; l < plan.layers; ++l) {
    const bool lit = l == chosen;
    const float y = plan.tile(l, 0).GetCenter().y;
    if ((l % step != 0 && !lit) || y < plan.map.Min.y || y > plan.map.Max.y) continue;
    if (!lit && step > 1 && std::abs(static_cast<float>(l - chosen)) * plan.rowPitch < view.px(13)) continue;
    ImFont* font = plan.pitch > view.px(110) ? view.fonts->title
                   : lit                     ? view.fonts->smallBold
                                             : view.fonts->monoSmall;
    paintText(list, font, ImVec2(x, y), lit ? view.theme->text : view.theme->faint, std::to_string(l),
              Align::right);
  }
}

/// "without it −0.12": the change in the predictions without the head, unless it is too small to mention.
/// Only the number if the rest doesn't fit `room`.
void paintLoss(const View& view, const Overlay& overlay, Index layer, Index head, ImVec2 rightMiddle,
               float room, std::uint32_t color) {
  const float change = overlay.losses ? overlay.losses->change(layer, head) : 0;
  if (std::abs(change) < kWorthSaying) return;
  const std::string number = changeText(change), whole = "without it " + number;
  ImFont* font = view.fonts->small;
  paintText(*ImGui::GetWindowDrawList(), font, rightMiddle, color,
            textWidth(font, whole) <= room ? whole : number, Align::right);
}

/// The head's behaviour, in its masked triangle if that has space.
void paintLabel(const View& view, const Overlay& overlay, const ImRect& tile, Index layer, Index head,
                const HeadSummary& summary) {
  const OverviewPlan& plan = overlay.plan;
  const attention::HeadLabel label = summary.label(overlay.scene.look.labelThreshold);
  const attention::Detector* detector = label.detector;
  if (!plan.label) return;
  const bool large = plan.score, bold = isDeliberate(label);
  ImFont* font = large ? (bold ? view.fonts->bold : view.fonts->text)
                       : (bold ? view.fonts->smallBold : view.fonts->small);
  Canvas list = *ImGui::GetWindowDrawList();
  const std::uint32_t color = bold ? view.theme->text : view.theme->faint;
  const float line = lineHeight(font), wide = tile.GetWidth() * 0.66f;
  std::string word = large ? attention::describe(label) : headWord(label);
  if (!detector && !large) word.clear();
  const bool off = isOff(overlay.scene, layer, head);
  if (off && !plan.belowTriangle) word.clear();  // "off" is drawn there
  if (summary.differs >= 0) word = fmt::format("±{}", fixedText(summary.differs, 2));
  if (textWidth(font, word) > wide) word = headWord(label);
  if (textWidth(font, word) > wide) word.clear();
  if (plan.belowTriangle) {
    if (detector)
      paintText(list, view.fonts->small, ImVec2(tile.Min.x, tile.Max.y + view.px(8)), color, word);
    if (large)
      paintLoss(view, overlay, layer, head, ImVec2(tile.Max.x, tile.Max.y + view.px(8)),
                tile.GetWidth() - textWidth(view.fonts->small, word) - view.px(8), color);
    return;
  }
  const float right = tile.Max.x - view.px(large ? 8 : 3), y = tile.Min.y + view.px(large ? 6 : 2) + line / 2;
  paintText(list, font, ImVec2(right, y), color, word, Align::right);
  if (!large) return;
  if (summary.differs >= 0) return;
  if (detector && !off)
    paintText(list, view.fonts->mono, ImVec2(right, y + line * 1.25f), color,
              fixedText(summary.profile[detector->name].raw, 3), Align::right);
  const float below = y + line * (detector && !off ? 2.5f : 1.25f);
  // The width of the masked triangle at this height.
  const float room = right - tile.Min.x - (below + line / 2 - tile.Min.y);
  paintLoss(view, overlay, layer, head, ImVec2(right, below), room,
            bold ? view.theme->text : view.theme->secondary);
}

void paintOffThumbnail(const View& view, const ImRect& tile) {
  Canvas list = *ImGui::GetWindowDrawList();
  paintOff(view, list, tile);
  if (tile.GetWidth() > view.px(26))
    paintText(list, view.fonts->smallBold, ImVec2(tile.Max.x - view.px(4), tile.Min.y + view.px(9)),
              view.theme->text, "off", Align::right);
}

/// Marks the query and the key in a thumbnail, −1 for none; dashed if they are `hovered`. In a causal head,
/// the masked triangle stays free for the label.
void paintPlace(const View& view, const ImRect& tile, const LayerSummary& layer, Index query, Index key,
                bool causal, bool hovered) {
  Canvas list = *ImGui::GetWindowDrawList();
  const HeatTile map = tileOf(layer, tile, 0);
  const auto x = [&](Index at) { return map.x(static_cast<float>(at)); };
  const auto y = [&](Index at) { return map.y(static_cast<float>(at)); };
  const bool large = tile.GetWidth() >= view.px(104);  // small ones have spots at their edges
  const auto mark = [&](const ImRect& lines, ImVec2 spot, std::uint32_t color) {
    const ImVec2 half(view.px(1.5f), view.px(1.5f));
    const ImRect box = large ? lines : ImRect(spot - half, spot + half);
    if (hovered) return paintGhost(view, list, "ghost", box, color);
    large ? paintMark(view, list, "crosshair", box, color, std::max(1.0f, view.px(1)))
          : paintSpot(view, list, "spot", box, color);
  };
  if (query >= 0)
    mark({tile.Min.x, y(query), causal ? x(query + 1) : tile.Max.x, y(query + 1)},
         ImVec2(tile.Min.x + view.px(1.5f), (y(query) + y(query + 1)) / 2), view.theme->query);
  if (key >= 0)
    mark({x(key), causal ? y(key) : tile.Min.y, x(key + 1), tile.Max.y},
         ImVec2((x(key) + x(key + 1)) / 2, tile.Max.y - view.px(1.5f)), view.theme->key);
}

/// Marks a head that the headline names, in the corner whose cell has weight 1 in every causal head. A frame
/// would look like the selected head's.
void paintNamed(const View& view, Canvas list, const ImRect& tile) {
  const ImVec2 from(std::round(tile.Min.x + view.px(3)), std::round(tile.Min.y + view.px(3)));
  const float side = std::round(view.px(5));
  paintSpot(view, list, "spot", {from, from + ImVec2(side, side)}, view.theme->text);
}

/// Frames, labels and marks over the picture of one head.
void paintOverHead(const State& page, const Overlay& overlay, Index at, Index h, const ImRect& tile) {
  const View& view = page.view;
  const Cursor& cursor = overlay.scene.cursor;
  const LayerSummary& layer = *page.layer(at);
  const HeadSummary& head = layer.heads[static_cast<std::size_t>(h)];
  Canvas list = *ImGui::GetWindowDrawList();
  const Cell& cell = cursor.cell;
  const Crosshair& hover = view.hover;
  const bool causal = !overlay.plan.belowTriangle;
  if (page.picture()) {
    paintPictureThumbnail(overlay.scene, page, tile, at, h);
  } else if (tile.GetWidth() >= view.px(24)) {
    if (tile.GetWidth() >= view.px(44))
      paintPlace(view, tile, layer, hover.query == cell.query ? -1 : hover.query,
                 hover.key == cell.key ? -1 : hover.key, causal, true);
    paintPlace(view, tile, layer, cell.query, cell.key, causal, false);
  }
  if (overlay.plan.sinks && layer.sinkShares.size() > 0) {
    paintSinkBars(
        view, list, tileOf(layer, tile, at * overlay.plan.heads + h), layer.weights.rows(),
        [&](Index row) { return layer.sinkShares(h, row); }, SinkBars::slim);
  }
  if (std::find(page.named.begin(), page.named.end(),
                head.label(overlay.scene.look.labelThreshold).detector) != page.named.end())
    paintNamed(view, list, tile);
  if (isOff(overlay.scene, at, h)) paintOffThumbnail(view, tile);
  paintLabel(view, overlay, tile, at, h, head);
  if (filteredOut(overlay.scene, head))
    list.AddRectFilled(tile.Min, tile.Max, faded(view.theme->background, 0.74f));
  if (cursor.model.byScore && !cursor.model.detector.empty() && overlay.plan.cells() > view.px(26))
    paintText(list, view.fonts->monoSmall, ImVec2(tile.Min.x + view.px(3), tile.Max.y - view.px(8)),
              view.theme->text, std::to_string(h));
  const Spot& over = page.head.previewed;
  if (at == cursor.model.layer && h == cell.head)
    paintMark(view, list, "chosen head", tile, view.theme->text,
              overlay.plan.cells() < view.px(20) ? 1 : std::max(2.0f, view.px(2)));
  else if (at == over.layer && h == over.cell.head)
    paintGhost(view, list, "hovered head", tile, view.theme->text);
}

/// An empty frame for each head of a layer that hasn't been computed.
void paintEmptyRow(const View& view, const OverviewPlan& plan, Index at) {
  Canvas list = *ImGui::GetWindowDrawList();
  for (Index column = 0; column < plan.heads; ++column)
    if (const ImRect tile = plan.tile(at, column); plan.inSight(tile))
      compat::rectOutline(list, tile.Min, tile.Max, view.theme->line, 0, 1);
}

void paintOverRow(const State& page, const Overlay& overlay, Index at) {
  const OverviewPlan& plan = overlay.plan;
  if (!page.layer(at)) return paintEmptyRow(page.view, plan, at);
  const std::vector<Index> order = headOrder(overlay.scene, page, at);
  for (Index column = 0; column < plan.heads; ++column)
    if (const ImRect tile = plan.tile(at, column); plan.inSight(tile))
      paintOverHead(page, overlay, at, order[static_cast<std::size_t>(column)], tile);
  if (at >= page.run.arrived)  // still shows the previous study
    Canvas(*ImGui::GetWindowDrawList())
        .AddRectFilled(plan.tile(at, 0).Min, plan.tile(at, plan.heads - 1).Max,
                       faded(page.view.theme->background, 0.5f));
}

void drawRow(const Scene& scene, State& page, const OverviewPlan& plan, Index at) {
  View& view = page.view;
  const auto row = static_cast<std::size_t>(at);
  if (page.picture()) return;  // drawn with its marks
  if (row >= page.pictures.rows.size() || page.pictures.rows[row].textures.empty() || !page.layer(at)) return;
  const std::vector<Index> order = headOrder(scene, page, at);
  std::vector<HeatmapTile> tiles;
  for (Index column = 0; column < plan.heads; ++column) {
    const ImRect area = plan.tile(at, column);
    if (!plan.inSight(area)) continue;
    const HeatTile tile = tileOf(*page.layer(at), area, order[static_cast<std::size_t>(column)]);
    HeatmapTile picture = pictureOf(tile, page.pictures.rows[row].factor, shownRange(scene, page));
    picture.view.layer = static_cast<int>(tile.head);
    picture.view.clip = {std::max(area.Min.x, plan.map.Min.x), std::max(area.Min.y, plan.map.Min.y),
                         std::min(area.Max.x, plan.map.Max.x), std::min(area.Max.y, plan.map.Max.y)};
    tiles.push_back(picture);
  }
  render::HeatmapStyle style = styleFor(view, shownColours(scene, page));
  if (plan.cells() < view.px(110)) style.gap = 0;
  view.heatmaps->draw(*ImGui::GetWindowDrawList(), page.pictures.rows[row].textures, style, std::move(tiles));
}

}  // namespace

void paintThumbnails(const Scene& scene, State& page, const OverviewPlan& plan) {
  const Overlay overlay{scene, plan, page.currentLosses()};
  Canvas list = *ImGui::GetWindowDrawList();
  // Frames extend slightly beyond the pictures.
  list.PushClipRect(ImVec2(plan.map.Min.x - 3, plan.map.Min.y - 3),
                    ImVec2(plan.map.Max.x + 3, plan.map.Max.y + 3), true);
  for (Index at = 0; at < plan.layers; ++at) drawRow(scene, page, plan, at);
  for (Index at = 0; at < plan.layers; ++at) paintOverRow(page, overlay, at);
  list.PopClipRect();
  paintHeadNumbers(page.view, plan, scene, page.model);
  paintLayerNumbers(page.view, plan, scene);
}

bool showsDifference(const Scene& scene, const State& page) {
  return scene.cursor.model.shown == ShownText::difference && shownCompared(scene, page);
}

namespace {

/// The ends of the scale around 0 that is shown; 0 if it starts at 0.
float aroundZero(const Scene& scene, const State& page) {
  if (showsDifference(scene, page)) return 1;
  return std::max(page.study ? page.study->aroundZero : 0,
                  shownCompared(scene, page) ? page.compared.request().b->aroundZero : 0);
}

}  // namespace

ValueRange shownRange(const Scene& scene, const State& page) {
  const float end = aroundZero(scene, page);
  return end > 0 ? ValueRange{-end, end, false} : weightRange(scene.look);
}

render::Colormap shownColours(const Scene& scene, const State& page) {
  return aroundZero(scene, page) > 0 ? render::Colormap::diverging : scene.look.colormap;
}

BarLabels shownLabels(const Scene& scene, const State& page) {
  const ValueRange range = shownRange(scene, page);
  if (range.low < 0) return {"−" + weightText(range.high), "0", weightText(range.high)};
  // Each map over a picture has its own scale.
  return {range.logarithmic ? "10⁻⁴" : "0", "", page.picture() ? "each map's most" : "1"};
}

std::vector<Index> headOrder(const Scene& scene, const State& page, Index at) {
  const LayerSummary& layer = *page.layer(at);
  std::vector<Index> order(layer.heads.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  const std::string& name = scene.cursor.model.detector;
  const auto detectors = attention::allDetectors();
  const auto found = std::find_if(detectors.begin(), detectors.end(),
                                  [&](const attention::Detector* d) { return d->title == name; });
  const bool difference = showsDifference(scene, page);
  if (!scene.cursor.model.byScore || (!difference && found == detectors.end())) return order;
  const auto score = [&](Index head) {
    const HeadSummary& of = layer.heads[static_cast<std::size_t>(head)];
    return difference ? of.differs : of.profile[(*found)->name].raw;
  };
  std::ranges::stable_sort(order, attention::descends<float>, score);
  return order;
}

}  // namespace headscope::app::model_page
