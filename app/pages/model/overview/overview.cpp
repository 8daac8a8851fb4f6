// The overview of all heads: its layout, and how it responds to the pointer.

#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/pages/model/overview/overview_parts.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

namespace {

constexpr PartHeight kMessage{160, 200, 1};

/// Zooms the thumbnails to `pitch` pixels apart, keeping the point under `about` in place.
void zoomTo(View& view, OverviewZoom& zoom, const OverviewPlan& plan, float pitch, ImVec2 about) {
  const float wanted = std::clamp(pitch, plan.fit, plan.largest);
  const auto keep = [&](float at, float origin, float scroll) {
    return (at - origin + scroll) * wanted / plan.pitch - (at - origin);
  };
  zoom.scroll = ImVec2(keep(about.x, plan.left, plan.scroll.x), keep(about.y, plan.top, plan.scroll.y));
  zoom.pitch = wanted <= plan.fit ? 0 : wanted;
  view.redraw(2);
}

/// Zooms and scrolls thumbnails that are too small to read, by wheel, dragging and keys.
void moveAbout(View& view, OverviewZoom& zoom, const OverviewPlan& plan, const Cursor& cursor, bool hovered) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (const float steps = std::exchange(zoom.steps, 0); steps != 0 && plan.zooms)
    zoomTo(view, zoom, plan, plan.pitch * std::pow(1.4f, steps), plan.map.GetCenter());
  if (!plan.zooms) return;
  if (const float wheel = ImGui::GetIO().MouseWheel; hovered && wheel != 0)
    zoomTo(view, zoom, plan, plan.pitch * std::pow(1.25f, wheel), mouse);
  if (zoom.dragging && ImGui::IsMouseDragging(0, view.px(4))) {
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    zoom.scroll = ImVec2(plan.scroll.x - by.x, plan.scroll.y - by.y);
    zoom.dragged = true;
  }
  if (!ImGui::IsMouseDown(0)) zoom.dragging = false;
  // Scroll to a head that was selected elsewhere, as by key.
  const std::pair chosen(cursor.model.layer, cursor.cell.head);
  const bool clicked = hovered && (ImGui::IsMouseReleased(0) || ImGui::IsMouseClicked(1));
  if (std::exchange(zoom.lastChosen, chosen) == chosen || clicked) return;
  const ImRect tile = plan.tile(chosen.first, chosen.second);
  const auto into = [](float from, float to, float low, float high) {
    return from < low ? from - low : to > high ? to - high : 0;
  };
  zoom.scroll = ImVec2(plan.scroll.x + into(tile.Min.x, tile.Max.x, plan.map.Min.x, plan.map.Max.x),
                       plan.scroll.y + into(tile.Min.y, tile.Max.y, plan.map.Min.y, plan.map.Max.y));
}

}  // namespace

void paintProgress(const View& view, const ImRect& area, float share) {
  Canvas(*ImGui::GetWindowDrawList())
      .AddRectFilled(area.Min, ImVec2(area.Min.x + area.GetWidth() * share, area.Min.y + view.px(2)),
                     view.theme->secondary);
}

namespace {

/// The progress of a slow pass, with a button that stops or resumes it.
void progress(State& page, const ImRect& area) {
  View& view = page.view;
  const StudyProgress& run = page.run;
  const Index layers = page.model.config->layerCount();
  const bool slow = page.study.busySeconds() > 0.3 && run.arrived < layers;
  if (!slow && !run.stopped) return;
  paintProgress(view, area, static_cast<float>(run.arrived) / static_cast<float>(layers));
  track("model.progress", area.Min, ImVec2(area.Max.x, area.Min.y + view.px(2)));
  const std::string label =
      run.stopped ? fmt::format("Paused after {} of {}. Resume", run.arrived, countedText(layers, "layer"))
                  : "Stop";
  ImGui::SetCursorScreenPos(
      ImVec2(area.GetCenter().x - textWidth(view.fonts->text, label) / 2, area.Max.y - view.px(38)));
  if (button(view, "model.stop", label)) view.request("model.stop");
}

/// Previews the cell under the pointer. A click selects it, or makes a picture's patch the query; a second
/// one opens the head on Heads.
void pointAtHead(Scene& scene, State& page, const OverviewPlan& plan, Index at, Index column,
                 const std::vector<Index>& order, bool clicked) {
  View& view = page.view;
  const Index h = order[static_cast<std::size_t>(column)];
  const ImRect tile = plan.tile(at, column);
  const LayerSummary* const layer = page.studied(at);
  if (!layer) return;
  const Index rows = layer->weights.rows(), cols = layer->weights.cols();
  const HeatTile map = tileOf(*layer, tile, h);
  // The narrow gaps between small thumbnails count as part of them.
  ImVec2 pointer = ImGui::GetIO().MousePos;
  if (plan.gap <= view.px(2)) pointer = ImMin(pointer, tile.Max - ImVec2(0.5f, 0.5f));
  auto cell = map.cellAt(pointer, rows, cols);
  const OpenPicture* picture = page.picture();
  if (picture) {
    const auto patch = patchUnder(*picture, tile, pointer);
    cell.reset();
    if (patch) cell = {scene.cursor.cell.query, *patch};
  }
  if (!cell) return;
  page.head.hoverLayer = at;
  view.nextHover = {h, cell->row, cell->col};
  const HeadSummary& head = layer->heads[static_cast<std::size_t>(h)];
  std::string says =
      fmt::format("layer {} · head {} · {}\n{} → {}  {}", at, h,
                  attention::describe(head.label(scene.look.labelThreshold)), page.queryToken(cell->row),
                  page.keyToken(cell->col), weightText(layer->weights.at(h, cell->row, cell->col)));
  if (const HeadLosses* losses = page.currentLosses())
    says += "\n" + changeText(losses->change(at, h)) + ": " + lossText(page);
  if (plan.magnifies && !page.zoom.dragged)
    magnifier(scene, page, plan, at, column, says);
  else if (!page.zoom.dragged)
    tooltip(view, says);
  const bool opens = clicked && ImGui::GetIO().MouseClickedLastCount[0] > 1,
             offers = ImGui::IsMouseClicked(1);
  if (clicked || offers) {
    Cursor& cursor = scene.cursor;
    const bool other = std::exchange(cursor.model.layer, at) != at;
    if (clicked && picture) {
      cursor.cell.head = h;
      cursor.cell.query = cell->col;
    } else {
      if (other || opens || offers) cursor.keyChosen = false;  // these don't let go of the cell
      choose(cursor, {h, cell->row, cell->col});
    }
  }
  if (opens) view.request("model.heads");
  if (!offers) return;
  view.menu = {"model.heads", "model.switch", "model.switch_alike", "model.restore", "head.copy"};
  if (page.model.opened && page.model.opened->recorded) view.menu = {"head.copy"};
}

/// Registers the heads' names for tests, unless there are too many to do so quickly.
void trackRow(const OverviewPlan& plan, const std::vector<Index>& order, Index at) {
  constexpr Index kMax = 1024;
  if (plan.layers * plan.heads > kMax) return;
  for (Index column = 0; column < plan.heads; ++column)
    if (const ImRect tile = plan.tile(at, column); plan.inSight(tile))
      track(fmt::format("model.{}.{}", at, order[static_cast<std::size_t>(column)]), tile.Min, tile.Max);
}

/// Handles the pointer over a layer's thumbnails. Returns whether it is there.
bool pointAtRow(Scene& scene, State& page, const OverviewPlan& plan, Index at) {
  const ImRect first = plan.tile(at, 0), last = plan.tile(at, plan.heads - 1);
  const ImVec2 from(std::max(first.Min.x, plan.map.Min.x), std::max(first.Min.y, plan.map.Min.y));
  const ImVec2 to(std::min(last.Max.x, plan.map.Max.x), std::min(first.Min.y + plan.pitch, plan.map.Max.y));
  if (to.x <= from.x || to.y <= from.y || !page.layer(at)) return false;
  const std::vector<Index> order = headOrder(scene, page, at);
  trackRow(plan, order, at);
  const std::string name = fmt::format("model.row.{}", at);
  bool clicked = hitArea(name, from, ImVec2(to.x - from.x, to.y - from.y));
  if (ImGui::IsItemActivated()) {
    page.zoom.dragging = true;
    page.zoom.dragged = false;
  }
  if (clicked && std::exchange(page.zoom.dragged, false)) clicked = false;
  if (!ImGui::IsItemHovered()) return false;
  const float x = ImGui::GetIO().MousePos.x;
  const auto column = static_cast<Index>((x - plan.tile(at, 0).Min.x) / plan.pitch);
  if (column >= 0 && column < plan.heads) pointAtHead(scene, page, plan, at, column, order, clicked);
  return true;
}

}  // namespace

ImRect OverviewPlan::tile(Index layer, Index column) const {
  const float x = std::round(left - scroll.x + pitch * static_cast<float>(column));
  const float y = std::round(top - scroll.y + rowPitch * static_cast<float>(layer));
  return {x, y, x + cells(), y + cells()};
}

namespace {

OverviewPlan planOverview(const View& view, const ShownModel& model, const OverviewZoom& zoom,
                          const ImRect& area) {
  const attention::ModelConfig& config = *model.config;
  OverviewPlan plan;
  const Index layers = config.layerCount(), heads = config.heads;
  const bool causal = config.causalHeads();
  plan.area = area;
  plan.layers = layers;
  plan.heads = heads;
  // Recorded and synthetic layers have no stream columns.
  plan.stream = config.family != nullptr && area.GetWidth() >= view.px(560) && !isFigure(view);
  const float ruler = view.px(40), numbers = view.px(20),
              beside = !plan.stream ? 0
                                    : view.px(model.classifies() ? 400
                                              : model.predicts() ? 308
                                                                 : 190);
  const float band = plan.stream ? view.px(34) : 0;
  const auto l = static_cast<float>(layers), h = static_cast<float>(heads);
  const float wide = area.GetWidth() - ruler, high = area.GetHeight() - numbers;
  // Thumbnails without a masked triangle have labels below, unless they are too small for labels.
  const auto pitchOver = [&](float below) { return std::min((wide - beside) / h, high / l - below); };
  const bool labelled = pitchOver(causal ? 0 : view.px(14)) >= view.px(44);
  const float below = causal || !labelled ? 0 : view.px(14);
  float pitch = pitchOver(below);
  const float banded = std::min({wide / h, high / l - below - band, view.px(240)});
  plan.band = plan.stream && banded >= view.px(120) && banded > pitch * 0.8f;
  if (plan.band) pitch = banded;
  plan.fit = std::max(std::floor(std::min(pitch, view.px(240))), view.px(4));
  plan.largest = view.px(24);
  plan.zooms = plan.fit < plan.largest;
  plan.pitch = plan.zooms && zoom.pitch > 0 ? std::clamp(zoom.pitch, plan.fit, plan.largest) : plan.fit;
  plan.gap = plan.pitch >= view.px(110) ? view.px(6)
             : plan.pitch < view.px(12) ? view.px(1)
             : plan.pitch < view.px(26) ? view.px(2)
                                        : view.px(3);
  plan.label = plan.pitch >= view.px(44) && (causal || labelled);
  plan.sinks = plan.label && config.sinks;
  if (plan.sinks) plan.gap += sinkBarsGap(view);
  plan.gap = std::max(1.0f, std::round(plan.gap));
  plan.rowPitch = plan.pitch + below + (plan.band ? band : 0);
  plan.left = area.Min.x + ruler;
  plan.top = area.Min.y + numbers;
  plan.columns = plan.left + plan.fit * h + view.px(16);
  plan.map = ImRect(plan.left, plan.top, plan.left + std::min(plan.fit * h, wide), area.Max.y);
  plan.score = plan.pitch >= view.px(110);
  plan.magnifies = plan.cells() < view.px(20);
  plan.belowTriangle = !causal;
  plan.most = ImVec2(std::max(0.0f, plan.pitch * h - plan.map.GetWidth()),
                     std::max(0.0f, plan.rowPitch * l - plan.map.GetHeight()));
  plan.scroll =
      ImVec2(std::clamp(zoom.scroll.x, 0.0f, plan.most.x), std::clamp(zoom.scroll.y, 0.0f, plan.most.y));
  return plan;
}

}  // namespace

OverviewPlan planMap(const View& view, const ShownModel& model, const OverviewZoom& zoom,
                     const ImRect& inner) {
  const auto between = [&](float header, float footer) {
    ImRect map = inner;
    map.Min.y += view.px(header);
    map.Max.y -= view.px(footer);
    return planOverview(view, model, zoom, map);
  };
  const OverviewPlan headed = between(100, 20);
  return headed.score ? headed : between(64, 0);
}

namespace {

/// Sets the size of a figure of the heads alone to suit a printed page, and draws the colours' legend.
void fitHeads(View& view, const Scene& scene, const State& page, const OverviewPlan& plan) {
  const float pitch = view.px(std::clamp(1100.0f / static_cast<float>(plan.heads), 18.0f, 150.0f));
  const float right = plan.tile(0, plan.heads - 1).Max.x + view.px(16);
  view.fitFigure(
      ImVec2(plan.left + pitch * static_cast<float>(plan.heads) + legendRoom(view),
             std::max(plan.top + (pitch + plan.rowPitch - plan.pitch) * static_cast<float>(plan.layers),
                      view.px(220))));
  view.figure->title =
      fmt::format("All heads of {} on {}", page.model.opened ? page.model.opened->name : "synthetic layers",
                  tokenCountText(page.tokens()));
  FigureLegend legend{"weight", shownColours(scene, page), shownLabels(scene, page)};
  legend.notNumber = page.study && page.study->unweighed;
  paintLegend(view, *ImGui::GetWindowDrawList(), ImVec2(right, plan.top), view.px(150), legend);
}

void paintHeads(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const OverviewPlan plan = planOverview(view, page.model, page.zoom, area);
  page.pictures.rowPixels = plan.cells();
  controlsIn("model.map", area, [&] {
    paintThumbnails(scene, page, plan);
    bool hovered = false;
    for (Index at = 0; at < plan.layers; ++at) hovered = pointAtRow(scene, page, plan, at) || hovered;
    moveAbout(view, page.zoom, plan, scene.cursor, hovered);
    if (plan.stream && page.ready() && page.model.opened->model) streamColumns(scene, page, plan);
  });
  if (isFigure(view)) fitHeads(view, scene, page, plan);
}

/// Adds what is shown while there are no heads. Returns false if there are some.
bool noHeads(Board& board, const State& page) {
  View& view = board.view();
  const bool any = std::any_of(page.layers.begin(), page.layers.end(), [](const auto& l) { return !!l; });
  if (page.model.opened && page.model.opened->readsPictures() && !page.model.opened->picture)
    board.picture("", kMessage, [&view](const ImRect& area) { pictureWanted(view, area); });
  else if (!page.study.problem().empty() && !any)
    board.message("This can't be computed", page.study.problem(), view.theme->error);
  else if (page.study && page.tokens() == 0)
    board.picture("", kMessage, [&view](const ImRect& area) {
      emptyMessage(view, area, "Nothing to read yet", "Type a sentence on the left for the model to read.",
                   "Start with a sentence", "input.sample");
    });
  else if (!any)
    board.message("Reading the text",
                  fmt::format("layer {} of {}", page.run.arrived, page.model.config->layerCount()));
  else
    return false;
  return true;
}

/// Adds the heads, their header and the meaning of their numbers. `area`: where these three go.
void headsView(Board& board, Scene& scene, State& page, const ImRect& area) {
  const bool headed = planMap(page.view, page.model, page.zoom, area).score;
  overviewHeader(board, scene, page, headed);
  board.picture("", {120, 200, 1}, [&scene, &page](const ImRect& map) { paintHeads(scene, page, map); });
  if (!headed) return;
  const HeadLosses* const losses = page.currentLosses();
  const bool any = losses && (losses->change.array().abs() >= kWorthSaying).any();
  const std::string about = any ? lossText(page) : "";
  board.words({about.empty() ? "" : "Signed numbers: " + about, about}, {"", board.theme().faint})
      .inWindow()
      .apart(0);
}

}  // namespace

void overviewPanel(Scene& scene, State& page, const ImRect& area, std::string_view named) {
  View& view = page.view;
  const bool answers = page.model.answers() && scene.cursor.model.view != ModelView::heads;
  // Over the heads, the wheel zooms, unless they are higher than the panel.
  const bool scrolls = answers || area.GetHeight() < view.px(240);
  if (beginPanel(view, "overview", area, 0, 0, scrolls ? 0 : ImGuiWindowFlags_NoScrollWithMouse)) {
    ImRect inner = area;
    inner.Expand(ImVec2(-view.px(area.GetWidth() < view.px(480) ? 8 : 20), -view.px(7)));
    Board board(view, inner, named);
    if (viewsRow(board, scene, page)) inner.Min.y += view.px(36);
    if (answers)
      answerView(board, scene, page);
    else if (!noHeads(board, page))
      headsView(board, scene, page, inner);
    board.show();
    if (!answers) progress(page, area);
  }
  endPanel();
}

}  // namespace headscope::app::model_page
