#include <fmt/core.h>

#include "app/pages/heads/heads_page.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::heads_page {

namespace {

void pointAtTile(Scene& scene, const SequenceSnapshot& sequence, State& page, const HeatTile& tile) {
  View& view = page.view;
  const std::string name = fmt::format("head.{}", tile.head);
  const bool clicked = hitArea(name, tile.area);
  noteTabStopKind(TabStopKind::picture, {tile.cellWidth(), tile.cellHeight()});
  trackCells(name, tile, &sequence.queries, &sequence.keys);
  if (!ImGui::IsItemHovered()) return;
  const auto under =
      tile.cellAt(ImGui::GetIO().MousePos, std::ssize(sequence.queries), std::ssize(sequence.keys));
  if (!under) return;
  const Cell cell{tile.head, under->row, under->col};
  view.nextHover = {cell.head, cell.query, cell.key};
  cellTooltip(view, sequence, cell.head, cell.query, cell.key);
  if (clicked) {
    scene.cursor.cell = cell;
    scene.cursor.keyChosen = true;
    scene.cursor.focus = cell.head;
    page.camera = {};
  }
  if (ImGui::IsMouseClicked(1)) offerForCell(scene, view, page.menu, cell);
}

/// Draws the highlighted key below its column, where there is no space for other labels.
void paintLitKey(const View& view, Canvas list, const SequenceSnapshot& sequence, const HeatTile& tile,
                 Index key) {
  const std::string& text = sequence.keys[static_cast<std::size_t>(key)].text;
  const std::string shown = fitted(view.fonts->monoSmall, text, tile.area.GetWidth());
  const float half = textWidth(view.fonts->monoSmall, shown) / 2;
  const float x = std::clamp(tile.x(static_cast<float>(key) + 0.5f), tile.area.Min.x + half,
                             std::max(tile.area.Max.x - half, tile.area.Min.x + half));
  paintText(list, view.fonts->monoSmall, ImVec2(x, tile.area.Max.y + view.px(12)), view.theme->key, shown,
            Align::center);
}

/// Whether the map is the first of its row.
bool isFirst(const GridPlan& plan, const HeatTile& tile) {
  return static_cast<int>(tile.head) % plan.columns == 0;
}

/// The tokens on the axes of a head in the grid; none if there is no space.
AxisLabels labelsOf(const View& view, const SequenceSnapshot& sequence, const GridPlan& plan,
                    const HeatTile& tile, const Cell& lit) {
  using Labels = GridPlan::Labels;
  static const std::vector<attention::Token> kNone;
  const bool every = plan.labels == Labels::every, outer = plan.labels == Labels::outer;
  const bool rows = every || (isFirst(plan, tile) && (outer || plan.labels == Labels::firstOfRow));
  const bool last = tile.head + plan.columns >= sequence.attention.weights.count();
  return {rows ? &sequence.queries : &kNone,
          every || (outer && last) ? &sequence.keys : &kNone,
          lit.query,
          lit.key,
          every ? plan.leftRoom : plan.margin,
          outer ? view.px(180) : plan.bottomRoom};
}

/// Draws the axes of a head in the grid: titles on each row's first map, tokens if there is space.
void paintAxes(const View& view, Canvas list, const SequenceSnapshot& sequence, const GridPlan& plan,
               const HeatTile& tile, const Cell& lit) {
  const AxisLabels labels = labelsOf(view, sequence, plan, tile, lit);
  if (isFirst(plan, tile) && !view.figure)
    paintAxisTitles(view, list, tile.area, labels.leftRoom, plan.bottomRoom > 0);
  if (!labels.queries->empty() || !labels.keys->empty()) paintAxisLabels(view, list, tile, labels);
  if (plan.labels != GridPlan::Labels::every && plan.bottomRoom > 0 && lit.key >= 0 &&
      lit.key < std::ssize(sequence.keys))
    paintLitKey(view, list, sequence, tile, lit.key);
}

/// Draws title, labels, numbers and crosshair over one head's picture.
void paintOverTile(const Scene& scene, const State& page, const SequenceSnapshot& sequence,
                   const GridPlan& plan, const HeatTile& tile, float titleRoom) {
  const View& view = page.view;
  const Snapshot& snapshot = *page.snapshot;
  Canvas list = *ImGui::GetWindowDrawList();
  const Cell lit = scene.cursor.cell;
  const Index queries = std::ssize(sequence.queries);
  paintHeadTitle(view, list, scene.look, snapshot, sequence, tile.head,
                 ImVec2(tile.area.Min.x, tile.area.Min.y - plan.titleHeight / 2 - view.px(2)),
                 view.figure ? plan.tileWidth : plan.mapWidth, false, titleRoom,
                 changeNotes(page, tile.head));
  if (snapshot.config.kvHeads < snapshot.config.heads)
    list.AddRectFilled(ImVec2(tile.area.Min.x, tile.area.Min.y - view.px(4)),
                       ImVec2(tile.area.Max.x, tile.area.Min.y - view.px(2)),
                       groupColor(*view.theme, snapshot.config.kvHeadOf(tile.head)));
  paintAxes(view, list, sequence, plan, tile, lit);
  paintCellValues(view, list, tile, sequence, lookFor(scene.look, sequence.pictures),
                  rangeFor(scene.look, sequence.pictures, tile.head));
  paintChanges(page, sequence, list, tile);
  if (switchedOff(snapshot.setup.subject, shownLayer(snapshot.setup), tile.head))
    paintOff(view, list, tile.area);
  paintCrosshair(view, list, tile, lit.query, lit.key, queries, std::ssize(sequence.keys));
  if (!snapshot.config.sinks.empty())
    paintSinkBars(
        view, list, tile, queries,
        [&](Index row) { return attention::sinkShare(snapshot.config, sequence.attention, tile.head, row); },
        SinkBars::slim);
}

/// Draws the heads' pictures with all that stands over them.
void drawTiles(const Scene& scene, State& page, const SequenceSnapshot& sequence, const GridPlan& plan,
               const std::vector<HeatTile>& tiles, float pitch) {
  if (tiles.empty()) return;
  View& view = page.view;
  const int factor = page.pictures.gridFactor;
  std::vector<HeatmapTile> pictures;
  for (const HeatTile& tile : tiles) {
    HeatmapTile picture = pictureOf(tile, factor, rangeFor(scene.look, sequence.pictures, tile.head));
    picture.view.layer = static_cast<int>(tile.head);
    if (scene.cursor.decoding)
      picture.view.litRows = static_cast<int>((scene.cursor.step + factor - 1) / factor);
    pictures.push_back(picture);
  }
  view.heatmaps->draw(*ImGui::GetWindowDrawList(), page.pictures.grid,
                      styleFor(view, lookFor(scene.look, sequence.pictures)), std::move(pictures));
  const float edge = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - view.px(4);
  for (const HeatTile& tile : tiles)
    paintOverTile(scene, page, sequence, plan, tile, std::min(pitch - view.px(6), edge - tile.area.Min.x));
}

void grid(Scene& scene, State& page, const SequenceSnapshot& sequence, const ImRect& area) {
  View& view = page.view;
  const attention::AttentionConfig& config = page.snapshot->config;
  const auto n = static_cast<float>(sequence.queries.size()), m = static_cast<float>(sequence.keys.size());
  const int heads = static_cast<int>(config.heads), factor = page.pictures.gridFactor;
  const float left = std::max(longestLabel(view, sequence.queries, view.px(76)) + view.px(8), view.px(62));
  const float bottom = longestLabel(view, sequence.keys, view.px(66)) * 0.9f + view.px(14);
  const NameRoom names = nameRoom(view, sequence.queries, sequence.keys);
  const FigureRules rules{170, 22, heads > 32 ? 0 : 32, 256};
  const GridPlan plan =
      view.figure
          ? planFigure(view, heads,
                       figureCells(view, std::ssize(sequence.queries), std::ssize(sequence.keys), rules),
                       names.left, names.below)
          : planGrid(view, area.GetSize(), heads, static_cast<int>(config.groupSize()), n, m, left, bottom);
  page.pictures.gridPixels = std::max(plan.mapWidth, plan.mapHeight);
  std::vector<HeatTile> tiles, resting, moving;
  for (const ImRect& cells : mapAreas(view, plan, area, heads)) {
    tiles.push_back({cells, 0, 0, n, m, std::ssize(tiles), scene.cursor.decoding ? scene.cursor.step : -1});
    HeatTile drawn = tiles.back();
    const std::string name = fmt::format("head.{}", drawn.head);
    drawn.area = page.motion.place(view, name, cells);
    (page.motion.moves(view, name) ? moving : resting).push_back(drawn);
  }
  const float pitch = tiles.size() > 1 && plan.columns > 1 ? tiles[1].area.Min.x - tiles[0].area.Min.x : 0;
  drawTiles(scene, page, sequence, plan, resting, pitch);
  drawTiles(scene, page, sequence, plan, moving, pitch);
  if (view.figure) {
    view.figure->title = figureTitle(scene, *page.snapshot, sequence, countedText(heads, "head"));
    const std::size_t lastRow =
        tiles.size() - 1 - (tiles.size() - 1) % static_cast<std::size_t>(plan.columns);
    paintAxisTitles(view, *ImGui::GetWindowDrawList(),
                    ImRect(tiles.front().area.Min, tiles[lastRow].area.Max), plan.margin);
    const HeatTile& corner = tiles[static_cast<std::size_t>(plan.columns) - 1];
    paintHeadsLegend(view, *ImGui::GetWindowDrawList(), scene.look, *page.snapshot, sequence, -1,
                     page.pictures.grid.values(), factor,
                     ImVec2(corner.area.Min.x + plan.tileWidth, corner.area.Min.y), plan.mapHeight);
  }
  for (const HeatTile& tile : tiles) {
    pointAtTile(scene, sequence, page, tile);
    const ImVec2 top(tile.area.Min.x, tile.area.Min.y - plan.titleHeight),
        below(tile.area.Max.x, tile.area.Min.y);
    offerForTitle(scene, page, ImRect(top, below),
                  {tile.head, scene.cursor.cell.query, scene.cursor.cell.key});
    pointAtLabels(scene, page, tile, labelsOf(view, sequence, plan, tile, {}));
  }
}

/// While a new setting is computed for long, a moving line says that the picture shows an earlier one.
void catchingUp(const View& view, double seconds, const ImRect& area) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = area.Max.y - view.px(2);
  list.AddRectFilled(ImVec2(area.Min.x, y), area.Max, view.theme->line);
  const float phase = static_cast<float>(seconds - std::floor(seconds / 2) * 2) / 2;
  const float wide = area.GetWidth() * 0.2f, at = area.Min.x + phase * (area.GetWidth() - wide);
  list.AddRectFilled(ImVec2(at, y), ImVec2(at + wide, area.Max.y), view.theme->warning);
}

/// The sentence, the choices and the heads, one of them enlarged or all.
void showHeads(Scene& scene, State& page, const SequenceSnapshot& sequence, const Layout& layout,
               const ImRect& area) {
  Board board(page.view, area);
  sentencePart(board, scene, page, sequence, layout.showLeft);
  wordCardPart(board, scene, page, sequence);
  board.area("", {52}, [&](const ImRect& line) { header(scene, page, sequence, line); }).apart(0).inWindow();
  board
      .picture("", {60, 300, 1},
               [&](const ImRect& maps) {
                 if (scene.cursor.focus >= 0)
                   focusView(scene, page, sequence, maps, layout.showRight);
                 else
                   grid(scene, page, sequence, maps);
                 if (page.catchingUp && page.busySeconds > 0.5)
                   catchingUp(page.view, page.busySeconds,
                              {maps.Min, ImVec2(maps.Max.x, maps.Min.y + page.view.px(2))});
               })
      .apart(0);
  board.show();
}

}  // namespace

void headsPanel(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  const Snapshot* snapshot = page.snapshot.get();
  if (beginPanel(view, "heads", layout.center, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const float pad = view.px(layout.center.GetWidth() < view.px(800) ? 12 : 22);
    const ImRect inner(layout.center.Min.x + pad, layout.center.Min.y + view.px(4), layout.center.Max.x - pad,
                       layout.center.Max.y - view.px(4));
    const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
    if (!snapshot) {
      paintMessage(view, inner, "Computing…", "The first picture follows shortly.", view.theme->text);
    } else if (snapshot->error && snapshot->error->waits) {
      emptyMessage(view, inner, "No context yet", snapshot->error->message, "Use a sample context",
                   "input.sample_context");
    } else if (snapshot->error) {
      paintMessage(view, inner, "This can't be computed", snapshot->error->message, view.theme->error);
    } else if (!sequence) {
      emptyMessage(view, inner, "Nothing to attend to yet",
                   "Type a sentence on the left. Each word becomes a query and a key.",
                   "Start with a sentence", "input.sample");
    } else {
      showHeads(scene, page, *sequence, layout, inner);
    }
  }
  endPanel();
}

}  // namespace headscope::app::heads_page
