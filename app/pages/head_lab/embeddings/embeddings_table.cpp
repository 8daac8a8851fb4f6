#include <fmt/core.h>

#include <cstdlib>

#include "app/pages/head_lab/embeddings/embeddings_state.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::head_lab_page {

using Kind = EmbeddingsState::Drag::Kind;

const attention::Table& tableNow(const Scene& scene, const EmbeddingsState& embeddings) {
  return scene.setup.input.source == EmbeddingSource::table ? *scene.setup.input.table
                                                            : embeddings.study->table;
}

void setTable(Scene& scene, EmbeddingsState& embeddings, attention::Table table, const char* edit) {
  table.names.resize(static_cast<std::size_t>(table.values.rows()));
  takeOwnTable(scene, std::move(table));
  embeddings.made = scene.setup.input.table.pointer();
  embeddings.problem.clear();
  if (*edit) embeddings.page.view.controls.continuousEdit = edit;
}

void setCell(Scene& scene, EmbeddingsState& embeddings, Index row, Index col, float value, const char* edit) {
  attention::Table table = tableNow(scene, embeddings);
  if (table.values(row, col) == value) return;
  table.values(row, col) = value;
  setTable(scene, embeddings, std::move(table), edit);
}

namespace {

/// The scale of the colours, which stays the same during a drag.
float largestShown(const EmbeddingsState& embeddings) {
  return embeddings.drags(Kind::cell) ? embeddings.drag.scale : embeddings.study->largest;
}

std::uint32_t streamInk(const Theme& theme, float value, float largest) {
  const std::uint32_t low = mixed(theme.background, theme.text, 0.05f),
                      middle = mixed(theme.background, theme.text, 0.33f);
  const float t = std::clamp(value / largest, -1.0f, 1.0f);
  return inkOn(unpacked(t < 0 ? mixed(middle, low, -t) : mixed(middle, theme.text, t)));
}

void paintNumbers(const EmbeddingsState& embeddings, const MapView& map, const attention::Matrix& values) {
  const View& view = embeddings.page.view;
  const float width = map.cells.GetWidth() / static_cast<float>(map.cols.count);
  const float height = map.cells.GetHeight() / static_cast<float>(map.rows.count);
  if (width < view.px(30) || height < view.px(13)) return;
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* font = view.fonts->monoSmall;
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col) {
      const std::string text = values(row, col) == 0 ? "0" : shortNumber(values(row, col), false);
      if (textWidth(font, text) > width - view.px(3)) continue;
      paintText(list, font,
                ImVec2(map.cells.Min.x + (static_cast<float>(col) + 0.5f) * width,
                       map.cells.Min.y + (static_cast<float>(row) + 0.5f) * height),
                streamInk(*view.theme, values(row, col), largestShown(embeddings)), text, Align::center);
    }
}

void openCell(EmbeddingsState& embeddings, const attention::Table& table, Index row, Index col) {
  const std::string text = numberText(static_cast<double>(table.values(row, col)), 6);
  embeddings.typing = {row, col, text, text, true};
}

void openName(EmbeddingsState& embeddings, const attention::Table& table, Index row) {
  const bool named = row < std::ssize(table.names);
  const std::string name = named ? table.names[static_cast<std::size_t>(row)] : "";
  embeddings.typing = {row, -1, name, name, true};
}

/// Applies the typed text. If it isn't a finite number, reports that and leaves the cell unchanged.
void takeTyped(Scene& scene, EmbeddingsState& embeddings, const EmbeddingsState::Typing& typing) {
  embeddings.problem.clear();
  if (typing.text == typing.was) return;  // which has fewer digits than the number
  if (typing.col < 0) {
    attention::Table table = tableNow(scene, embeddings);
    table.names.resize(static_cast<std::size_t>(table.values.rows()));
    table.names[static_cast<std::size_t>(typing.row)] = typing.text;
    return setTable(scene, embeddings, std::move(table), "");
  }
  const auto value = static_cast<float>(typedNumber(typing.text).value_or(INFINITY));
  if (!std::isfinite(value))
    embeddings.problem = fmt::format("“{}” for token {}, dimension {} is not a finite number.", typing.text,
                                     typing.row, typing.col);
  else
    setCell(scene, embeddings, typing.row, typing.col, value, "");
}

void typeCell(Scene& scene, EmbeddingsState& embeddings, const MapView& map) {
  EmbeddingsState::Typing& typing = embeddings.typing;
  const bool inSight = typing.row >= map.rows.first && typing.row < map.rows.end() &&
                       (typing.col < 0 || map.cols.has(typing.col));
  if (!inSight) {
    typing.row = -1;
    return;
  }
  View& view = embeddings.page.view;
  const float width = map.cells.GetWidth() / static_cast<float>(map.cols.count);
  const float height = map.cells.GetHeight() / static_cast<float>(map.rows.count);
  const float wide = view.px(110);
  const float x = typing.col < 0
                      ? map.cells.Min.x - wide
                      : std::min(map.cells.Min.x + static_cast<float>(typing.col - map.cols.first) * width,
                                 map.cells.Max.x - wide);
  const float y = map.cells.Min.y + (static_cast<float>(typing.row - map.rows.first) + 0.5f) * height;
  ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(17)));
  const bool opened = std::exchange(typing.opened, false);
  const bool entered = lineBox(view, "embeddings.typed", typing.text, wide, opened, "");
  if (!entered && (opened || !ImGui::IsItemDeactivated())) return;
  const EmbeddingsState::Typing typed = std::exchange(typing, {});
  takeTyped(scene, embeddings, typed);
  // As in spreadsheets, Enter moves to the cell below.
  const attention::Table& table = tableNow(scene, embeddings);
  const Index below = typed.row + 1;
  if (!entered || !embeddings.problem.empty() || below >= table.values.rows()) return;
  scene.cursor.cell.query = below;
  typed.col < 0 ? openName(embeddings, table, below) : openCell(embeddings, table, below, typed.col);
}

/// A dragged cell follows the pointer up and down; 240 units span −largest to +largest value.
void dragCell(Scene& scene, EmbeddingsState& embeddings, const MapView& map) {
  const View& view = embeddings.page.view;
  hitArea("embeddings.cells", map.cells);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const HeatTile tile = map.tile();
  noteTabStopKind(TabStopKind::picture, {tile.cellWidth(), tile.cellHeight()});
  const attention::Table& table = tableNow(scene, embeddings);
  const auto cell = tile.cellAt(mouse, table.values.rows(), table.values.cols());
  EmbeddingsState::Drag& drag = embeddings.drag;
  if (ImGui::IsItemHovered() && cell && !embeddings.drags(Kind::cell)) {
    embeddings.page.view.nextHover.query = cell->row;
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    if (ImGui::IsMouseDoubleClicked(0)) return openCell(embeddings, table, cell->row, cell->col);
  }
  if (ImGui::IsItemActivated() && cell) {
    drag = {};
    drag.kind = Kind::cell;
    drag.row = cell->row;
    drag.col = cell->col;
    drag.from = mouse;
    drag.value = table.values(cell->row, cell->col);
    drag.scale = embeddings.study->largest;
    scene.cursor.cell.query = cell->row;
    if (embeddings.axes.principal() && !embeddings.kept) embeddings.kept = embeddings.study->plane;
  }
  if (!embeddings.drags(Kind::cell)) return;
  if (!ImGui::IsItemActive()) {
    drag.kind = Kind::none;
    return;
  }
  drag.moved = drag.moved || std::abs(mouse.y - drag.from.y) >= view.px(2);
  if (!drag.moved || drag.row >= table.values.rows() || drag.col >= table.values.cols()) return;
  setCell(scene, embeddings, drag.row, drag.col,
          drag.value + (drag.from.y - mouse.y) / view.px(240) * 2 * drag.scale, "embeddings.cell");
  embeddings.page.view.nextHover.query = drag.row;
}

/// Draws all columns at once, with a frame around the visible part; a click or a drag moves it.
void overview(const Scene& scene, EmbeddingsState& embeddings, const ImRect& area, const VisibleCells& cols,
              Index dims) {
  const View& view = embeddings.page.view;
  const Theme& theme = *view.theme;
  const MatrixPicture picture{"embeddings.overview", Ink::stream, -embeddings.study->largest,
                              embeddings.study->largest};
  paintPicture(embeddings.page.view, embeddings.page.pictures, picture, embeddings.study->overview, area,
               scene.look);
  const float each = area.GetWidth() / static_cast<float>(dims);
  Canvas list = *ImGui::GetWindowDrawList();
  const float x0 = area.Min.x + each * static_cast<float>(cols.first),
              x1 = area.Min.x + each * static_cast<float>(cols.end());
  compat::rectOutline(list, ImVec2(x0 - 2, area.Min.y - 2), ImVec2(x1 + 2, area.Max.y + 2), theme.background,
                      0, view.px(3));
  compat::rectOutline(list, ImVec2(x0 - 1, area.Min.y - 1), ImVec2(x1 + 1, area.Max.y + 1), theme.text, 0,
                      view.px(2));
  hitArea("embeddings.overview", area);
  if (ImGui::IsItemActive()) {
    const auto at = static_cast<Index>((ImGui::GetIO().MousePos.x - area.Min.x) / each);
    embeddings.firstColumn = std::clamp<Index>(at - cols.count / 2, 0, dims - cols.count);
  }
}

/// Scrolls the columns with the wheel.
void scrollColumns(EmbeddingsState& embeddings, const MapView& map, Index dims) {
  if (!ImGui::IsWindowHovered() || !map.cells.Contains(ImGui::GetIO().MousePos)) return;
  for (const InputEvent& event : embeddings.page.view.input.events)
    if (event.kind == InputEvent::Kind::wheel)
      embeddings.firstColumn =
          std::clamp<Index>(embeddings.firstColumn - static_cast<Index>(std::lround((event.y + event.x) * 3)),
                            0, std::max<Index>(0, dims - map.cols.count));
}

/// The first window of columns in which most columns distinguish the tokens.
Index liveliest(const attention::Matrix& values, Index count) {
  const attention::Matrix centred = values.rowwise() - values.colwise().mean();
  const Eigen::RowVectorXf spread = centred.cwiseAbs().colwise().mean();
  const float much = spread.maxCoeff() / 4;
  Index best = 0, most = -1;
  for (Index first = 0; first + count <= values.cols(); ++first) {
    const Index lively = (spread.segment(first, count).array() > much).count();
    if (lively > most) {
      most = lively;
      best = first;
    }
  }
  return best;
}

void title(const Scene& scene, const EmbeddingsState& embeddings, const ImRect& area,
           const attention::Table& table) {
  const View& view = embeddings.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = area.Min.y + view.px(10);
  float x = area.Min.x + paintText(list, view.fonts->title, ImVec2(area.Min.x, y), theme.text, "Embeddings") +
            view.px(12);
  x += paintText(list, view.fonts->mono, ImVec2(x, y), theme.secondary,
                 shapeText(table.values.rows(), table.values.cols())) +
       view.px(16);
  const Index row = embeddings.drags(Kind::cell) ? embeddings.drag.row : -1;
  const std::string source = scene.setup.input.source == EmbeddingSource::table ? "typed" : "of the text";
  const std::string help = source + "; drag a cell up or down, double-click to type";
  const std::string words =
      row >= 0
          ? fmt::format("{} [{}] = {}", table.names.empty() ? "" : table.names[static_cast<std::size_t>(row)],
                        embeddings.drag.col,
                        cellText(static_cast<double>(table.values(row, embeddings.drag.col))))
      : textWidth(view.fonts->text, help) <= area.Max.x - x ? help
                                                            : source;
  ImFont* font = row >= 0 ? view.fonts->mono : view.fonts->text;
  paintText(list, font, ImVec2(x, y), row >= 0 ? theme.text : theme.secondary,
            fitted(font, words, area.Max.x - x));
}

}  // namespace

void renameToken(const Scene& scene, EmbeddingsState& embeddings) {
  const attention::Table& table = tableNow(scene, embeddings);
  openName(embeddings, table, std::clamp<Index>(scene.cursor.cell.query, 0, table.values.rows() - 1));
}

void embeddingsTable(Scene& scene, EmbeddingsState& embeddings, const ImRect& area) {
  View& view = embeddings.page.view;
  const Index n = tableNow(scene, embeddings).values.rows(), dims = tableNow(scene, embeddings).values.cols();
  if (n == 0 || dims == 0) return;
  title(scene, embeddings, area, tableNow(scene, embeddings));
  const float labels = view.px(96), head = view.px(28), foot = view.px(dims > 12 ? 62 : 26);
  const float high = area.GetHeight() - head - foot, wide = area.GetWidth() - labels;
  if (high < view.px(6)) return;
  MapView map;
  map.name = "embeddings";
  map.ink = Ink::stream;
  map.row = {std::min(scene.cursor.cell.query, n - 1), view.hover.query};
  map.rows = windowOf(n, std::max<Index>(1, static_cast<Index>(high / view.px(6))), map.row.selected);
  map.cols.count = std::min(dims, cellsThatFit(view, wide, 34));
  if (embeddings.firstColumn < 0)
    embeddings.firstColumn = liveliest(tableNow(scene, embeddings).values, map.cols.count);
  embeddings.firstColumn = std::clamp<Index>(embeddings.firstColumn, 0, dims - map.cols.count);
  map.cols.first = embeddings.firstColumn;
  const float cellHigh = std::floor(std::min(high / static_cast<float>(map.rows.count), view.px(kTableRow)));
  const float cellWide = std::floor(std::min(wide / static_cast<float>(map.cols.count), view.px(54)));
  const ImVec2 at(std::round(area.Min.x + labels), std::round(area.Min.y + head));
  map.cells = ImRect(at, ImVec2(at.x + cellWide * static_cast<float>(map.cols.count),
                                at.y + cellHigh * static_cast<float>(map.rows.count)));
  map.rowColor = view.theme->query;
  map.colColor = view.theme->secondary;
  map.col = {embeddings.drags(Kind::cell) ? embeddings.drag.col : -1, -1};
  map.low = -largestShown(embeddings);
  map.high = largestShown(embeddings);
  scrollColumns(embeddings, map, dims);
  if (embeddings.typing.row < 0) dragCell(scene, embeddings, map);
  const attention::Table& table = tableNow(scene, embeddings);  // after the drag
  const attention::Matrix values =
      table.values.block(map.rows.first, map.cols.first, map.rows.count, map.cols.count);
  paintMap(scene, embeddings.page, map, values);
  paintNumbers(embeddings, map, values);
  const std::vector<attention::Token>& tokens = embeddings.page.layer->sequence().queries;
  if (static_cast<Index>(tokens.size()) >= n) rowNames(embeddings.page, map, tokens, labels);
  columnNumbers(embeddings.page, map, view.theme->text);
  if (dims > map.cols.count)
    overview(scene, embeddings,
             ImRect(map.cells.Min.x, map.cells.Max.y + view.px(30), map.cells.Max.x,
                    map.cells.Max.y + view.px(54)),
             map.cols, dims);
  if (embeddings.typing.row >= 0) typeCell(scene, embeddings, map);
}

}  // namespace headscope::app::head_lab_page
