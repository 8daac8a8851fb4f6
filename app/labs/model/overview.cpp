#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/labs/model/model_page.h"
#include "app/platform/track.h"
#include "app/scene/number_text.h"
#include "app/widgets/colour_bar.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/marks.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

/// Heads by what they are seen to do, the most frequent first.
struct Behaviour {
  std::string name;
  Index heads = 0;
};
std::vector<Behaviour> behavioursOf(const ModelPage& page, float threshold) {
  std::vector<Behaviour> found;
  for (const auto& layer : page.layers)
    for (const HeadSummary& head : layer->heads) {
      const std::string name = filterName(head.label(threshold));
      const auto at =
          std::find_if(found.begin(), found.end(), [&](const Behaviour& b) { return b.name == name; });
      if (at == found.end())
        found.push_back({name, 1});
      else
        ++at->heads;
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const Behaviour& a, const Behaviour& b) { return a.heads > b.heads; });
  return found;
}

/// One word of the filter with its number; whether it was clicked.
bool filterChip(const View& view, const std::string& name, const std::string& label, Index count, bool chosen,
                float x, float y, float& width) {
  ImFont* font = view.fonts->text;
  const std::string number = countText(static_cast<std::uint64_t>(count));
  width = textWidth(font, label) + textWidth(view.fonts->mono, number) + view.px(26);
  ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(13)));
  const bool clicked = ImGui::InvisibleButton(("filter." + name).c_str(), ImVec2(width, view.px(26)));
  trackItem("filter." + name);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (chosen || ImGui::IsItemHovered())
    list.AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), view.theme->raised, view.px(6));
  const std::uint32_t color = chosen ? view.theme->text : view.theme->secondary;
  const float after =
      x + view.px(10) +
      paintText(list, chosen ? view.fonts->bold : font, ImVec2(x + view.px(10), y), color, label);
  paintText(list, view.fonts->mono, ImVec2(after + view.px(6), y), color, number);
  return clicked;
}

/// "144 heads", what to light up, the order, and the colours.
void header(Scene& scene, ModelPage& page, const ImRect& area) {
  View& view = page.view;
  ModelCursor& cursor = scene.cursor.model;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = area.Min.y + view.px(24);
  const Index all = page.config->heads * page.config->layerCount();
  float x = area.Min.x;
  x += paintText(list, view.fonts->title, ImVec2(x, y), view.theme->text,
                 countText(static_cast<std::uint64_t>(all)) + (all == 1 ? " head" : " heads")) +
       view.px(14);
  const float barWidth = view.px(110);
  paintColourBar(view, scene.look.colormap, {"0", "", "1"}, ImVec2(area.Max.x, y), barWidth);
  const float sortLeft = area.Max.x - barWidth - view.px(150);
  const std::string none = cursor.detector.empty() ? "Choose what heads do first: a word at the left" : "";
  std::vector<Choice> orders{{"by layer", "", "layer"}, {"by score", none, "score"}};
  int order = cursor.byScore && !cursor.detector.empty() ? 1 : 0;
  ImGui::SetCursorScreenPos(ImVec2(sortLeft, y - view.px(13)));
  if (dropdown(view, "model.order", orders, order, 0,
               "In each layer the heads stand by their number, or by the score of the behaviour that is "
               "chosen."))
    cursor.byScore = order == 1;
  float width = 0;
  const auto chip = [&](const std::string& name, const std::string& label, Index count, bool chosen) {
    const bool clicked = filterChip(view, name, label, count, chosen, x, y, width);
    x += width + view.px(2);
    return clicked;
  };
  if (chip("all", "all", all, cursor.detector.empty())) cursor.detector.clear();
  for (const Behaviour& one : behavioursOf(page, scene.look.labelThreshold)) {
    const float needed = textWidth(view.fonts->text, one.name) + view.px(64);
    if (x + needed > sortLeft) break;
    if (chip(one.name, one.name, one.heads, cursor.detector == one.name))
      cursor.detector = cursor.detector == one.name ? "" : one.name;
  }
}

bool filteredOut(const Scene& scene, const HeadSummary& head) {
  const std::string& wanted = scene.cursor.model.detector;
  return !wanted.empty() && filterName(head.label(scene.look.labelThreshold)) != wanted;
}

void paintNumbers(const View& view, const OverviewPlan& plan, const Scene& scene, const ModelPage& page) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Cursor& cursor = scene.cursor;
  const auto every = [&](float room) { return std::max<Index>(1, std::ceil(view.px(room) / plan.pitch)); };
  const Index stepX = every(22), stepY = std::max<Index>(1, std::ceil(view.px(15) / plan.rowPitch));
  const bool sorted = cursor.model.byScore && !cursor.model.detector.empty();
  const float y = plan.top - view.px(10);
  for (Index h = 0; h < plan.heads && !sorted; ++h) {
    const bool lit = h == cursor.cell.head;
    if (h % stepX != 0 && !lit) continue;
    const ImRect tile = plan.tile(0, h);
    if (lit || stepX == 1 || std::abs(h - cursor.cell.head) >= stepX)
      paintText(list, lit ? view.fonts->smallBold : view.fonts->monoSmall, ImVec2(tile.GetCenter().x, y),
                lit ? view.theme->text : view.theme->faint,
                plan.pitch > view.px(110) ? fmt::format("head {}", h) : std::to_string(h), Align::center);
  }
  paintText(list, view.fonts->small, ImVec2(plan.left - view.px(8), y), view.theme->faint,
            plan.pitch > view.px(40) && !plan.band ? "layer" : "", Align::right);
  for (Index l = 0; l < plan.layers; ++l) {
    const bool lit = l == cursor.model.layer;
    if (l % stepY != 0 && !lit) continue;
    const ImRect tile = plan.tile(l, 0);
    ImFont* font = plan.pitch > view.px(110) ? view.fonts->title
                   : lit                     ? view.fonts->smallBold
                                             : view.fonts->monoSmall;
    paintText(list, font, ImVec2(plan.left - view.px(8), tile.GetCenter().y),
              lit ? view.theme->text : view.theme->faint, std::to_string(l), Align::right);
  }
  // Heads that share keys and values have a line of their colour above them.
  if (page.config->kvHeads == page.config->heads || sorted) return;
  const Index group = page.config->heads / page.config->kvHeads;
  for (Index g = 0; g < page.config->kvHeads; ++g) {
    const ImRect first = plan.tile(0, g * group), last = plan.tile(0, g * group + group - 1);
    list.AddRectFilled(ImVec2(first.Min.x, plan.top - view.px(3)), ImVec2(last.Max.x, plan.top - view.px(1)),
                       groupColor(*view.theme, g));
  }
}

/// What a head is seen to do, where its masked triangle leaves room.
void paintLabel(const View& view, const OverviewPlan& plan, const ImRect& tile, const HeadSummary& head,
                float threshold, std::uint32_t onTop) {
  if (!plan.label) return;
  const attention::HeadLabel label = head.label(threshold);
  const attention::Detector* detector = label.detector;
  if (!detector) return;
  const bool large = plan.score, bold = isDeliberate(label);
  ImFont* font = large ? (bold ? view.fonts->bold : view.fonts->text)
                       : (bold ? view.fonts->smallBold : view.fonts->small);
  const float room = tile.GetWidth() * 0.66f;
  std::string word = large ? attention::describe(label) : std::string(detector->shortName);
  if (textWidth(font, word) > room) word = detector->shortName;
  if (textWidth(font, word) > room) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::uint32_t color = bold ? onTop : view.theme->faint;
  const float line = lineHeight(font);
  if (plan.belowTriangle) {
    paintText(list, view.fonts->small, ImVec2(tile.Min.x, tile.Max.y + view.px(8)), color, word);
    return;
  }
  const float right = tile.Max.x - view.px(large ? 8 : 3), y = tile.Min.y + view.px(large ? 6 : 2) + line / 2;
  paintText(list, font, ImVec2(right, y), color, word, Align::right);
  if (large)
    paintText(list, view.fonts->mono, ImVec2(right, y + line * 1.25f), color,
              fmt::format("{:.3f}", head.profile[detector->name].raw), Align::right);
}

void paintOff(const View& view, const ImRect& tile) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(tile.Min, tile.Max, faded(view.theme->background, 0.6f));
  list.AddLine(tile.Min, tile.Max, view.theme->secondary, std::max(1.0f, view.px(1)));
  compat::rectOutline(list, tile.Min, tile.Max, view.theme->secondary, 0, 1);
  if (tile.GetWidth() > view.px(26))
    paintText(list, view.fonts->smallBold, ImVec2(tile.Max.x - view.px(4), tile.Min.y + view.px(9)),
              view.theme->text, "off", Align::right);
}

/// Where the query and the key are, in every thumbnail that is large enough.
void paintPlace(const View& view, const ImRect& tile, const LayerSummary& layer, const Cell& cell) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto n = static_cast<float>(layer.weights.rows());
  HeatTile map{tile, 0, 0, n, n, 0};
  if (tile.GetWidth() >= view.px(104)) {
    const float thick = std::max(1.0f, view.px(1));
    paintMark(view, list, "crosshair",
              {ImVec2(tile.Min.x, map.y(static_cast<float>(cell.query))),
               ImVec2(tile.Max.x, map.y(static_cast<float>(cell.query + 1)))},
              view.theme->query, thick);
    paintMark(view, list, "crosshair",
              {ImVec2(map.x(static_cast<float>(cell.key)), tile.Min.y),
               ImVec2(map.x(static_cast<float>(cell.key + 1)), tile.Max.y)},
              view.theme->key, thick);
    return;
  }
  if (tile.GetWidth() < view.px(24)) return;
  const float mark = view.px(3), half = view.px(1.5f);
  const float y = map.y(static_cast<float>(cell.query) + 0.5f),
              x = map.x(static_cast<float>(cell.key) + 0.5f);
  paintSpot(view, list, "spot", {ImVec2(tile.Min.x, y - half), ImVec2(tile.Min.x + mark, y + half)},
            view.theme->query);
  paintSpot(view, list, "spot", {ImVec2(x - half, tile.Max.y - mark), ImVec2(x + half, tile.Max.y)},
            view.theme->key);
}

/// Frames, labels and marks over the pictures of one layer.
void paintOverRow(const Scene& scene, const ModelPage& page, const OverviewPlan& plan, Index at) {
  const View& view = page.view;
  const LayerSummary& layer = *page.layer(at);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::vector<Index> order = headOrder(scene, page, at);
  for (Index column = 0; column < plan.heads; ++column) {
    const Index h = order[static_cast<std::size_t>(column)];
    const ImRect tile = plan.tile(at, column);
    if (tile.Max.y < plan.area.Min.y || tile.Min.y > plan.area.Max.y) continue;
    const HeadSummary& head = layer.heads[static_cast<std::size_t>(h)];
    paintPlace(view, tile, layer, scene.cursor.cell);
    paintLabel(view, plan, tile, head, scene.look.labelThreshold, view.theme->text);
    if (isOff(scene, at, h)) paintOff(view, tile);
    if (filteredOut(scene, head))
      list.AddRectFilled(tile.Min, tile.Max, faded(view.theme->background, 0.74f));
    if (scene.cursor.model.byScore && !scene.cursor.model.detector.empty() && plan.cells() > view.px(26))
      paintText(list, view.fonts->monoSmall, ImVec2(tile.Min.x + view.px(3), tile.Max.y - view.px(8)),
                view.theme->text, std::to_string(h));
    if (at == scene.cursor.model.layer && h == scene.cursor.cell.head)
      paintMark(view, list, "chosen head", tile, view.theme->text, std::max(2.0f, view.px(2)));
  }
  if (at >= page.arrived)  // a picture of before
    list.AddRectFilled(plan.tile(at, 0).Min, plan.tile(at, plan.heads - 1).Max,
                       faded(view.theme->background, 0.5f));
}

void drawRow(const Scene& scene, ModelPage& page, const OverviewPlan& plan, Index at) {
  View& view = page.view;
  const auto row = static_cast<std::size_t>(at);
  if (row >= page.rows.size() || page.rows[row].empty()) return;
  const auto n = static_cast<float>(page.layer(at)->weights.rows());
  const std::vector<Index> order = headOrder(scene, page, at);
  std::vector<HeatmapTile> tiles;
  for (Index column = 0; column < plan.heads; ++column) {
    const ImRect area = plan.tile(at, column);
    if (area.Max.y < plan.area.Min.y || area.Min.y > plan.area.Max.y) continue;
    const HeatTile tile{area, 0, 0, n, n, order[static_cast<std::size_t>(column)]};
    HeatmapTile picture = pictureOf(tile, page.rowFactor[row], {0, 1, false});
    picture.view.layer = static_cast<int>(tile.head);
    picture.view.clip = {std::max(area.Min.x, plan.area.Min.x), std::max(area.Min.y, plan.area.Min.y),
                         std::min(area.Max.x, plan.area.Max.x), std::min(area.Max.y, plan.area.Max.y)};
    tiles.push_back(picture);
  }
  render::HeatmapStyle style = styleFor(view, scene.look);
  style.colormap = scene.look.colormap;
  if (plan.cells() < view.px(110)) style.gap = 0;
  view.heatmaps->draw(*ImGui::GetWindowDrawList(), page.rows[row], style, std::move(tiles));
}

/// Pointing picks a head, a query and a key; a click opens the heads of that layer.
void pointAtRow(Scene& scene, ModelPage& page, const OverviewPlan& plan, Index at) {
  View& view = page.view;
  const LayerSummary& layer = *page.layer(at);
  const Index n = layer.weights.rows();
  const std::vector<Index> order = headOrder(scene, page, at);
  for (Index column = 0; column < plan.heads; ++column) {
    const Index h = order[static_cast<std::size_t>(column)];
    const ImRect tile = plan.tile(at, column);
    if (tile.Max.y < plan.area.Min.y || tile.Min.y > plan.area.Max.y) continue;
    const std::string name = fmt::format("model.{}.{}", at, h);
    track(name, tile.Min, tile.Max);
    ImGui::SetCursorScreenPos(tile.Min);
    const bool clicked = ImGui::InvisibleButton(name.c_str(), tile.GetSize());
    if (!ImGui::IsItemHovered() || n != page.tokens()) continue;
    const HeatTile map{tile, 0, 0, static_cast<float>(n), static_cast<float>(n), h};
    const auto cell = map.cellAt(ImGui::GetIO().MousePos, n, n);
    if (!cell) continue;
    page.hoverLayer = at;
    view.nextHover = {page.held ? -1 : h, cell->row, cell->col};
    const HeadSummary& head = layer.heads[static_cast<std::size_t>(h)];
    tooltip(view,
            fmt::format("layer {} · head {} · {}\n{} → {}  {}", at, h,
                        attention::describe(head.label(scene.look.labelThreshold)), page.token(cell->row),
                        page.token(cell->col), weightText(layer.weights.at(h, cell->row, cell->col))));
    if (clicked || ImGui::IsMouseClicked(1)) {
      scene.cursor.model.layer = at;
      scene.cursor.cell = {h, cell->row, cell->col};
    }
    if (clicked) view.request("model.heads");
    if (ImGui::IsMouseClicked(1))
      view.menu = {"model.heads", "model.switch", "model.switch_alike", "model.restore", "head.copy"};
  }
}

}  // namespace

ImRect OverviewPlan::tile(Index layer, Index column) const {
  const float x = std::round(left + pitch * static_cast<float>(column));
  const float y = std::round(top - scroll + rowPitch * static_cast<float>(layer));
  return {x, y, x + cells(), y + cells()};
}

OverviewPlan planOverview(const View& view, const ImRect& area, Index layers, Index heads, bool causal) {
  OverviewPlan plan;
  plan.area = area;
  plan.layers = layers;
  plan.heads = heads;
  plan.stream = area.GetWidth() >= view.px(560);
  const float ruler = view.px(40), numbers = view.px(20), beside = plan.stream ? view.px(308) : 0;
  const float band = plan.stream ? view.px(34) : 0;
  const auto l = static_cast<float>(layers), h = static_cast<float>(heads);
  const float wide = area.GetWidth() - ruler, high = area.GetHeight() - numbers;
  const float below = causal ? 0 : view.px(14);
  float pitch = std::min((wide - beside) / h, high / l - below);
  const float banded = std::min({wide / h, high / l - below - band, view.px(240)});
  plan.band = plan.stream && banded >= view.px(120) && banded > pitch * 0.8f;
  if (plan.band) pitch = banded;
  plan.pitch = std::max(std::floor(std::min(pitch, view.px(240))), view.px(9));
  plan.gap = plan.pitch >= view.px(110) ? view.px(6) : plan.pitch < view.px(26) ? view.px(2) : view.px(3);
  plan.gap = std::max(1.0f, std::round(plan.gap));
  plan.rowPitch = plan.pitch + (causal ? 0 : view.px(14)) + (plan.band ? band : 0);
  plan.left = area.Min.x + ruler;
  plan.top = area.Min.y + numbers;
  plan.columns = plan.left + plan.pitch * h + view.px(16);
  plan.label = plan.pitch >= view.px(44);
  plan.score = plan.pitch >= view.px(110);
  plan.belowTriangle = !causal;
  return plan;
}

std::vector<Index> headOrder(const Scene& scene, const ModelPage& page, Index at) {
  const LayerSummary& layer = *page.layer(at);
  std::vector<Index> order(layer.heads.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  const std::string& name = scene.cursor.model.detector;
  const auto detectors = attention::allDetectors();
  const auto found = std::find_if(detectors.begin(), detectors.end(),
                                  [&](const attention::Detector* d) { return d->title == name; });
  if (!scene.cursor.model.byScore || found == detectors.end()) return order;
  const std::string_view key = (*found)->name;
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return layer.heads[static_cast<std::size_t>(a)].profile[key].raw >
           layer.heads[static_cast<std::size_t>(b)].profile[key].raw;
  });
  return order;
}

void overviewPanel(Scene& scene, ModelPage& page, const ImRect& area, bool presents) {
  View& view = page.view;
  if (beginPanel(view, "overview", area, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const float pad = view.px(presents ? 8 : 20);
    const ImRect inner(area.Min.x + pad, area.Min.y, area.Max.x - pad, area.Max.y - view.px(6));
    const bool whole = !page.layers.empty() && page.tokens() > 0 &&
                       std::all_of(page.layers.begin(), page.layers.end(), [](const auto& l) { return !!l; });
    if (!page.problem.empty() && !whole) {
      paintMessage(view, inner, "This can't be computed", page.problem, view.theme->error);
    } else if (page.study && page.tokens() == 0) {
      emptyMessage(view, inner, "Nothing to read yet",
                   "Type a sentence at the left: the model reads it at once.", "Start with a sentence",
                   "input.sample");
    } else if (!whole) {
      paintMessage(view, inner, "Reading the text",
                   fmt::format("layer {} of {}", page.arrived, page.config->layerCount()), view.theme->text);
    } else {
      if (!presents) header(scene, page, inner);
      ImRect map = inner;
      map.Min.y += view.px(presents ? 4 : 46);
      const auto layers = static_cast<Index>(page.layers.size());
      OverviewPlan plan = planOverview(view, map, layers, page.config->heads, page.config->causal);
      ImGui::SetCursorScreenPos(map.Min);
      const float needed = plan.rowPitch * static_cast<float>(layers) + view.px(20);
      ImGui::BeginChild("model.map", map.GetSize(), false,
                        ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar |
                            (needed <= map.GetHeight() ? ImGuiWindowFlags_NoScrollWithMouse : 0));
      plan.scroll = ImGui::GetScrollY();
      page.thumbnailPixels = plan.cells();
      for (Index at = 0; at < layers; ++at) drawRow(scene, page, plan, at);
      for (Index at = 0; at < layers; ++at) paintOverRow(scene, page, plan, at);
      for (Index at = 0; at < layers; ++at) pointAtRow(scene, page, plan, at);
      paintNumbers(view, plan, scene, page);
      if (plan.stream && scene.setup.subject.opened->model) streamColumns(scene, page, plan);
      ImGui::SetCursorPos(ImVec2(0, needed - 1));
      ImGui::Dummy(ImVec2(1, 1));
      compat::endChild();
    }
  }
  endPanel();
}

}  // namespace headscope::app
