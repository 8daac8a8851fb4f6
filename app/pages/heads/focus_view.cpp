#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/heads/heads_state.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/widgets/camera.h"
#include "app/widgets/cells.h"
#include "app/widgets/figure_legend.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/sink_bars.h"
#include "app/widgets/text/token_labels.h"
#include "attention/core/receipt.h"

namespace headscope::app::heads_page {

namespace {

/// Height below the cells for the prediction of a lesson's reader, in layout units.
constexpr float kGuessRoom = 40;
/// Minimum width of a figure for its title, in layout units.
constexpr float kMinTitle = 330;

/// Width left of the cells. While presenting, space is scarce, so it is as narrow as the labels allow.
float labelRoom(const View& view, const std::vector<attention::Token>& queries) {
  const float usual = view.px(116);
  if (!view.present || !view.guessedRow.empty()) return usual;
  return std::clamp(longestLabel(view, queries, view.px(104)) + view.px(12), view.px(72), usual);
}

/// The cells' area: square cells, centred, with space for title and labels.
ImRect cellArea(const View& view, const ImRect& area, const SequenceSnapshot& sequence, bool besideReceipt,
                bool sinks) {
  const auto n = static_cast<float>(sequence.queries.size()), m = static_cast<float>(sequence.keys.size());
  const float guess = view.guessedRow.empty() ? 0 : kGuessRoom;
  const float labels =
      view.present ? longestLabel(view, sequence.keys, view.px(70)) * 0.9f + view.px(16) : view.px(100);
  const float left = labelRoom(view, sequence.queries), bottom = labels + view.px(guess), top = view.px(44);
  const float aspect = std::clamp(m / n, 0.2f, 5.0f);
  // While presenting, a lesson's mark may be on the right, unless the receipt takes that space.
  const float right = view.px(!view.present   ? 24
                              : besideReceipt ? 12
                                              : 44) +
                      (sinks ? sinkBarsRoom(view) : 0);
  const float roomX = area.GetWidth() - left - right, roomY = area.GetHeight() - top - bottom;
  const float width = std::floor(std::max(view.px(60), std::min(roomX, roomY * aspect)));
  const float height = std::floor(width / aspect);
  const float x = std::round(area.Min.x + left + std::max(0.0f, (roomX - width) / 2));
  const float y = std::round(area.Min.y + top);
  return {x, y, x + width, y + height};
}

/// The same for a figure, whose size follows its cells and the legend next to them.
ImRect figureArea(View& view, const ImRect& area, const SequenceSnapshot& sequence, bool sinks) {
  const NameRoom names = nameRoom(view, sequence.queries, sequence.keys);
  const ImVec2 cells = figureCells(view, std::ssize(sequence.queries), std::ssize(sequence.keys));
  const ImVec2 at(std::round(area.Min.x + names.left), std::round(area.Min.y + view.px(56)));
  view.fitFigure(ImVec2(names.left + std::max(cells.x, view.px(kMinTitle)) + legendRoom(view) +
                            (sinks ? sinkBarsRoom(view) : 0),
                        view.px(56) + std::max(cells.y, view.px(200)) + names.below + view.px(20)));
  return {at, ImVec2(at.x + cells.x, at.y + cells.y)};
}

/// Draws the reader's prediction for the highlighted query in a frame below the cells, one cell per key.
void paintGuess(const View& view, Canvas list, const HeatTile& tile, const Look& look,
                const ValueRange& range) {
  const std::vector<float>& row = view.guessedRow;
  if (row.empty() || static_cast<float>(row.size()) != tile.cols) return;
  attention::Matrix values(1, static_cast<Index>(row.size()));
  std::copy(row.begin(), row.end(), values.data());
  const ImRect area(tile.area.Min.x, tile.area.Max.y + view.px(10), tile.area.Max.x,
                    tile.area.Max.y + view.px(34));
  paintCells(view, list, area, values,
             {colormapFor(look), range.low, range.high, std::max(1.0f, view.px(1))});
  const HeatTile cells{area, 0, 0, 1, tile.cols, tile.head, -1};
  paintValues(view, list, cells, 1, std::ssize(row), look, range,
              [&](Index, Index key) -> std::optional<float> {
                const float value = row[static_cast<std::size_t>(key)];
                return std::isfinite(value) ? std::optional(value) : std::nullopt;
              });
  const float frame = view.px(2);
  compat::rectOutline(list, ImVec2(area.Min.x - frame, area.Min.y - frame),
                      ImVec2(area.Max.x + frame, area.Max.y + frame), view.theme->secondary, 0,
                      std::max(1.5f, view.px(1.6f)));
  track("lesson.guess", area.Min, area.Max);
  paintText(list, view.fonts->text, ImVec2(area.Min.x - view.px(12), area.GetCenter().y),
            view.theme->secondary, "your answer", Align::right);
}

/// Labels rows next to the rows, and keys below the prediction.
void paintLabelsBelowGuess(const View& view, Canvas list, const HeatTile& tile, const AxisLabels& labels) {
  static const std::vector<attention::Token> kNone;
  AxisLabels rows = labels, keys = labels;
  rows.keys = keys.queries = &kNone;
  paintAxisLabels(view, list, tile, rows);
  HeatTile lower = tile;
  lower.area.Translate(ImVec2(0, view.px(kGuessRoom)));
  paintAxisLabels(view, list, lower, keys);
  ImRect both = tile.area;
  both.Max.y += view.px(kGuessRoom);
  paintAxisTitles(view, list, both, view.px(112));
}

/// "queries 120–160 of 512, keys 0–40 of 512 · brightest of 2 × 2 cells", or how to zoom and move.
std::string visibleRangeText(const State& page, const HeatTile& tile, Index n, Index m) {
  const auto span = [](float first, float count, Index total) {
    const Index last = std::min<Index>(total, static_cast<Index>(std::ceil(first + count))) - 1;
    return fmt::format("{}–{} of {}", static_cast<Index>(first), last, total);
  };
  std::string text = page.camera.zoom > 1.01f ? "queries " + span(tile.row, tile.rows, n) + ", keys " +
                                                    span(tile.col, tile.cols, m)
                     : !page.keysTurn ? "wheel zooms, drag moves"
                                      : "wheel zooms, drag moves, Page Up and Page Down change the head";
  if (page.pictures.focusFactor > 1) text += " · " + pooledText(page.pictures.focusFactor);
  return text;
}

}  // namespace

void focusView(Scene& scene, State& page, const SequenceSnapshot& sequence, const ImRect& area,
               bool besideReceipt) {
  View& view = page.view;
  const Snapshot& snapshot = *page.snapshot;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  const auto rows = static_cast<float>(n), cols = static_cast<float>(m);
  const Index head = std::min(scene.cursor.focus, snapshot.config.heads - 1);
  const bool sinks = !snapshot.config.sinks.empty();
  const ImRect cells = view.figure ? figureArea(view, area, sequence, sinks)
                                   : cellArea(view, area, sequence, besideReceipt, sinks);
  hitArea("focus", cells);
  const bool hovered = ImGui::IsItemHovered();
  const float still = view.px(4);
  const bool released =
      ImGui::IsItemDeactivated() && hovered && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < still * still;
  moveCamera(page.camera, view, cells, rows, cols, true);
  HeatTile tile = tileFor(page.camera, cells, n, m, head);
  noteTabStopKind(TabStopKind::picture, {tile.cellWidth(), tile.cellHeight()});
  trackCells("focus", tile, &sequence.queries, &sequence.keys);
  if (scene.cursor.decoding) tile.decodedRows = scene.cursor.step;
  track("focus.cells", ImVec2(tile.x(0), tile.y(0)), ImVec2(tile.x(cols), tile.y(rows)));

  page.pictures.focusCell = std::max(tile.cellWidth(), tile.cellHeight());
  const ValueRange range = rangeFor(scene.look, sequence.pictures, head);
  HeatmapTile picture = pictureOf(tile, page.pictures.focusFactor, range);
  if (scene.cursor.decoding)
    picture.view.litRows =
        static_cast<int>((scene.cursor.step + page.pictures.focusFactor - 1) / page.pictures.focusFactor);
  view.heatmaps->draw(list, page.pictures.focus, styleFor(view, lookFor(scene.look, sequence.pictures)),
                      {picture});

  const Cell& chosen = scene.cursor.cell;
  const Index query = view.hover.query >= 0 ? view.hover.query : chosen.query;
  const Index key = view.hover.key >= 0 ? view.hover.key : chosen.key;
  paintHeadTitle(view, list, scene.look, snapshot, sequence, head,
                 ImVec2(cells.Min.x, cells.Min.y - view.px(22)),
                 std::max(cells.GetWidth(), view.figure ? view.px(kMinTitle) : 0), true);
  paintCellValues(view, list, tile, sequence, lookFor(scene.look, sequence.pictures), range);
  const NameRoom names =
      view.figure ? nameRoom(view, sequence.queries, sequence.keys) : NameRoom{view.px(112), view.px(96)};
  const AxisLabels labels{&sequence.queries, &sequence.keys, query,       key,
                          names.left,        names.below,    !view.figure};
  if (view.guessedRow.empty()) {
    paintAxisLabels(view, list, tile, labels);
    pointAtLabels(scene, page, tile, labels);
    paintAxisTitles(view, list, cells, names.left);
  } else {
    paintGuess(view, list, tile, scene.look, range);
    paintLabelsBelowGuess(view, list, tile, labels);
  }
  paintCrosshair(view, list, tile, query, key, n, m);
  if (sinks)
    paintSinkBars(view, list, tile, n, [&](Index row) {
      return attention::sinkShare(snapshot.config, sequence.attention, head, row);
    });
  if (view.figure) {
    view.figure->title = figureTitle(scene, snapshot, sequence, headName(head));
    paintHeadsLegend(view, list, scene.look, snapshot, sequence, head, page.pictures.focus.values(),
                     page.pictures.focusFactor,
                     ImVec2(cells.Max.x + (sinks ? sinkBarsRoom(view) : 0), cells.Min.y), cells.GetHeight());
  }
  if (!view.present)
    paintFitted(view, list, view.fonts->small, ImVec2(cells.Min.x, area.Max.y - view.px(8)),
                area.Max.x - cells.Min.x, view.theme->faint, visibleRangeText(page, tile, n, m));
  const ImRect title(cells.Min.x, cells.Min.y - view.px(40), cells.Max.x, cells.Min.y - view.px(4));
  if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(1) && title.Contains(ImGui::GetIO().MousePos))
    offerForCell(scene, page.view, page.menu, {head, chosen.query, chosen.key});
  if (!hovered) return;
  const auto cell = tile.cellAt(ImGui::GetIO().MousePos, n, m);
  if (!cell) return;
  view.nextHover = {head, cell->row, cell->col};
  if (!ImGui::IsMouseDragging(0, view.px(4))) cellTooltip(view, sequence, head, cell->row, cell->col);
  if (released) scene.cursor.cell = {head, cell->row, cell->col};
  if (ImGui::IsMouseClicked(1)) offerForCell(scene, page.view, page.menu, {head, cell->row, cell->col});
}

}  // namespace headscope::app::heads_page
