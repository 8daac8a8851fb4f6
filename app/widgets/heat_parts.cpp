#include "app/widgets/heat_parts.h"

#include "app/compute/plots/plot_data.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

void paintOff(const View& view, Canvas list, const ImRect& tile) {
  list.AddRectFilled(tile.Min, tile.Max, faded(view.theme->background, 0.6f));
  list.AddLine(tile.Min, tile.Max, view.theme->secondary, std::max(1.0f, view.px(1)));
  compat::rectOutline(list, tile.Min, tile.Max, view.theme->secondary, 0, 1);
}

void paintRamp(const View& view, Canvas list, render::Colormap colormap, ImVec2 from, ImVec2 to) {
  uiState().legends.insert(static_cast<int>(colormap));
  constexpr int kSteps = 64;
  const bool upwards = to.y < from.y;
  const float step = (upwards ? to.y - from.y : to.x - from.x) / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const std::uint32_t low = packed(colorOn(*view.theme, colormap, static_cast<float>(i) / kSteps)),
                        high = packed(colorOn(*view.theme, colormap, static_cast<float>(i + 1) / kSteps));
    const float at = (upwards ? from.y : from.x) + step * static_cast<float>(i);
    if (upwards)
      list.AddRectFilledMultiColor(ImVec2(from.x, at + step), ImVec2(to.x, at), high, high, low, low);
    else
      list.AddRectFilledMultiColor(ImVec2(at, from.y), ImVec2(at + step, to.y), low, high, high, low);
  }
}

void paintColourBar(const View& view, render::Colormap colormap, const BarLabels& labels, ImVec2 right,
                    float width) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float barHeight = view.px(10), y = right.y - view.px(7);
  const ImVec2 from(right.x - width, y - barHeight / 2);
  paintRamp(view, list, colormap, from, ImVec2(right.x, from.y + barHeight));
  ImFont* font = view.fonts->monoSmall;
  const float below = y + barHeight / 2 + view.px(8);
  paintText(list, font, ImVec2(from.x, below), view.theme->secondary, labels.low);
  if (width > view.px(120))
    paintText(list, font, ImVec2(from.x + width / 2, below), view.theme->secondary, labels.middle,
              Align::center);
  paintText(list, font, ImVec2(right.x, below), view.theme->secondary, labels.high, Align::right);
  track("colour_bar", from, right);
}

namespace {

constexpr Index kMaxCells = 96;  // per side

void hatch(const View& view, Canvas list, const ImRect& cell, bool dead) {
  const Theme& theme = *view.theme;
  list.AddRectFilled(cell.Min, cell.Max, mixed(theme.background, theme.panel, 0.7f));
  if (cell.GetWidth() < view.px(5) || cell.GetHeight() < view.px(5)) return;
  list.PushClipRect(cell.Min, cell.Max, true);
  const std::uint32_t ink = dead ? theme.faint : mixed(theme.background, theme.line, 0.8f);
  const float step = view.px(6), height = cell.GetHeight();
  // Aligns the lines across cells.
  const float phase = std::fmod(cell.Min.x + cell.Max.y, step);
  for (const float x : placesBetween(cell.Min.x - height - phase, cell.Max.x, step)) {
    list.AddLine(ImVec2(x, cell.Max.y), ImVec2(x + height, cell.Min.y), ink, std::max(1.0f, view.px(0.8f)));
    if (dead) list.AddLine(ImVec2(x, cell.Min.y), ImVec2(x + height, cell.Max.y), ink, view.px(0.8f));
  }
  list.PopClipRect();
}

}  // namespace

void paintCells(const View& view, Canvas list, const ImRect& area, const attention::Matrix& values,
                const CellStyle& style) {
  if (values.size() == 0) return;
  const Index n = values.rows(), m = values.cols();
  const Index rows = std::min(n, kMaxCells), cols = std::min(m, kMaxCells);
  const float high = area.GetHeight() / static_cast<float>(rows);
  const float wide = area.GetWidth() / static_cast<float>(cols);
  const float gap = std::min(high, wide) > 4 * style.gap ? style.gap : 0;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const ImRect cell(area.Min.x + wide * static_cast<float>(c), area.Min.y + high * static_cast<float>(r),
                        area.Min.x + wide * static_cast<float>(c + 1) - gap,
                        area.Min.y + high * static_cast<float>(r + 1) - gap);
      const Index row = r * n / rows, col = c * m / cols;
      const Index lastRow = std::max(row + 1, (r + 1) * n / rows),
                  lastCol = std::max(col + 1, (c + 1) * m / cols);
      const float value =
          values.block(row, col, lastRow - row, lastCol - col).maxCoeff<Eigen::PropagateNaN>();
      if (value == render::kMaskedCell || value == render::kDeadCell) {
        hatch(view, list, cell, value == render::kDeadCell);
        continue;
      }
      if (std::isnan(value)) {
        list.AddRectFilled(cell.Min, cell.Max, packed(render::HeatmapStyle().nan));
        continue;
      }
      const float t = (value - style.low) / std::max(style.high - style.low, 1e-9f);
      list.AddRectFilled(cell.Min, cell.Max, packed(colorOn(*view.theme, style.colormap, t)));
    }
}

ImRect squareCells(const ImRect& room, Index rows, Index cols) {
  const float side = std::min(room.GetWidth() / static_cast<float>(std::max<Index>(cols, 1)),
                              room.GetHeight() / static_cast<float>(std::max<Index>(rows, 1)));
  return {room.Min.x, room.Min.y, room.Min.x + side * static_cast<float>(cols),
          room.Min.y + side * static_cast<float>(rows)};
}

float longestLabel(const View& view, const std::vector<attention::Token>& tokens, float most) {
  float longest = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(tokens.size(), 256); ++i)
    longest = std::max(longest, textWidth(view.fonts->monoSmall, tokens[i].text));
  return std::min(longest, most);
}

NameRoom nameRoom(const View& view, const std::vector<attention::Token>& queries,
                  const std::vector<attention::Token>& keys) {
  const float most = view.px(view.figure ? 174 : 90), below = view.px(view.figure ? 174 : 70);
  return {std::max(longestLabel(view, queries, most) + view.px(14), view.px(58)),
          longestLabel(view, keys, below) * 0.9f + view.px(14)};
}

namespace {
constexpr float kLegendGap = 20, kLegendTaken = 84, kLegendBar = 12, kLegendRow = 18;
}

float legendRoom(const View& view) {
  return view.px(kLegendGap + kLegendTaken);
}

void paintLegend(const View& view, Canvas list, ImVec2 at, float height, const FigureLegend& legend) {
  const Theme& theme = *view.theme;
  ImFont *const words = view.fonts->small, *const numbers = view.fonts->monoSmall;
  const float left = at.x + view.px(kLegendGap), right = left + view.px(kLegendBar),
              beside = right + view.px(6);
  float y = at.y + view.px(6);
  if (!legend.caption.empty()) {
    paintText(list, words, ImVec2(left, y), theme.secondary, legend.caption);
    y += view.px(12);
    const float bottom = y + std::clamp(height - view.px(18), view.px(40), view.px(182));
    paintRamp(view, list, legend.colormap, ImVec2(left, bottom), ImVec2(right, y));
    const float half = view.px(5);
    paintText(list, numbers, ImVec2(beside, y + half), theme.text, legend.labels.high);
    if (bottom - y > view.px(60))
      paintText(list, numbers, ImVec2(beside, (y + bottom) / 2), theme.text, legend.labels.middle);
    paintText(list, numbers, ImVec2(beside, bottom - half), theme.text, legend.labels.low);
    y = bottom + view.px(kLegendRow);
  }
  const auto swatch = [&](const std::string& word) {
    const ImRect sample(left, y - view.px(kLegendBar / 2), right, y + view.px(kLegendBar / 2));
    paintText(list, words, ImVec2(beside, y), theme.secondary, word);
    y += view.px(kLegendRow);
    return sample;
  };
  const auto outline = [&](const ImRect& area) {
    compat::rectOutline(list, area.Min, area.Max, theme.line, 0, std::max(1.0f, view.px(0.75f)));
  };
  for (const auto& [word, color] : legend.swatches) {
    const ImRect area = swatch(word);
    list.AddRectFilled(area.Min, area.Max, color);
    outline(area);
  }
  const auto marked = [&](const char* word, float value) {
    const ImRect area = swatch(word);
    paintCells(view, list, area, attention::Matrix::Constant(1, 1, value), {});
    outline(area);
  };
  if (legend.masked) marked("masked", render::kMaskedCell);
  if (legend.dead) marked("sees no key", render::kDeadCell);
  if (legend.notNumber) marked("no weight", std::numeric_limits<float>::quiet_NaN());
  for (const std::string& note : legend.notes) {
    paintText(list, words, ImVec2(left, y), theme.faint, note);
    y += view.px(14);
  }
}

float paintLegendLine(const View& view, Canvas list, ImVec2 right, float room, const FigureLegend& legend) {
  const Theme& theme = *view.theme;
  ImFont* const font = view.fonts->small;
  const float apart = view.px(18), gap = view.px(6), half = view.px(view.present ? 6 : 5);
  const float ramp = view.px(view.present ? 96 : 56);
  float x = right.x;
  const auto fits = [&](float width) { return right.x - x + width <= room; };
  const auto word = [&](const std::string& text, std::uint32_t color) {
    x -= paintText(list, font, ImVec2(x, right.y), color, text, Align::right) + gap;
  };
  const auto width = [&](const std::string& text) { return textWidth(font, text) + gap; };
  if (!legend.caption.empty() &&
      fits(width(legend.caption) + width(legend.labels.low) + width(legend.labels.high) + ramp)) {
    word(legend.labels.high, theme.text);
    paintRamp(view, list, legend.colormap, ImVec2(x - ramp, right.y - half), ImVec2(x, right.y + half));
    track("colour_bar", ImVec2(x - ramp, right.y - half), ImVec2(x, right.y + half));
    x -= ramp + gap;
    word(legend.labels.low, theme.text);
    word(legend.caption, theme.secondary);
    x -= apart - gap;
  }
  const auto sample = [&](const std::string& meaning, const std::function<void(const ImRect&)>& paint) {
    if (!fits(width(meaning) + 2 * half)) return;
    word(meaning, theme.secondary);
    const ImRect area(x - 2 * half, right.y - half, x, right.y + half);
    paint(area);
    compat::rectOutline(list, area.Min, area.Max, theme.line, 0, 1);
    x -= 2 * half + apart;
  };
  const auto cell = [&](const std::string& meaning, float value) {
    sample(meaning, [&](const ImRect& area) {
      paintCells(view, list, area, attention::Matrix::Constant(1, 1, value), {});
    });
  };
  if (legend.notNumber) cell("no weight", std::numeric_limits<float>::quiet_NaN());
  if (legend.dead) cell("sees no key", render::kDeadCell);
  if (legend.masked) cell("masked", render::kMaskedCell);
  for (const auto& swatch : legend.swatches)
    sample(swatch.first, [&](const ImRect& area) { list.AddRectFilled(area.Min, area.Max, swatch.second); });
  return right.x - x;
}

ImVec2 figureCells(const View& view, Index queries, Index keys, const FigureRules& rules) {
  constexpr float kLabel = 13;
  const Index longer = std::max<Index>({queries, keys, 1});
  float cell = std::min(rules.side / static_cast<float>(longer), rules.largest);
  // Whole units keep cells equally wide and sharp at whole scales.
  cell = cell < 8 ? std::max(1.0f, std::round(cell + 0.3f)) : std::floor(cell);
  if (longer <= rules.allLabelled) cell = std::max(cell, kLabel);
  for (Index pooled = longer; pooled > rules.mostCells; pooled = (pooled + 1) / 2) cell /= 2;
  const auto n = static_cast<float>(queries), m = static_cast<float>(keys);
  // A single query over many keys would shrink to a line.
  return {view.px(cell * std::max(m, n / 5)), view.px(cell * std::max(n, m / 5))};
}

namespace {

/// Keeps the camera inside the matrix; zoom 1 shows the whole matrix.
void clampCamera(Camera& camera, float n, float m) {
  const float most = std::max(1.0f, std::max(n, m) / 2);  // shows at least two cells across
  camera.zoom = std::clamp(camera.zoom, 1.0f, most);
  camera.row = std::clamp(camera.row, 0.0f, n - n / camera.zoom);
  camera.col = std::clamp(camera.col, 0.0f, m - m / camera.zoom);
}

/// Handles mouse input on ImGui's last item. Keeps the camera inside the n × m matrix.
void moveCamera(Camera& camera, const View& view, const ImRect& cells, float n, float m, bool dragMoves) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (const InputEvent& event : view.input.events) {
    if (event.kind != InputEvent::Kind::wheel || !ImGui::IsItemHovered() || event.y == 0) continue;
    const float fx = (mouse.x - cells.Min.x) / cells.GetWidth(),
                fy = (mouse.y - cells.Min.y) / cells.GetHeight();
    const float row = camera.row + fy * n / camera.zoom, col = camera.col + fx * m / camera.zoom;
    camera.zoom *= std::pow(1.2f, event.y);
    clampCamera(camera, n, m);
    camera.row = row - fy * n / camera.zoom;
    camera.col = col - fx * m / camera.zoom;
  }
  if (dragMoves && ImGui::IsItemActive() && ImGui::IsMouseDragging(0, view.px(4))) {
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    camera.col -= moved.x / cells.GetWidth() * m / camera.zoom;
    camera.row -= moved.y / cells.GetHeight() * n / camera.zoom;
  }
  clampCamera(camera, n, m);
}

}  // namespace

PointedMap pointAtMap(View& view, const std::string& name, Camera& camera, const ImRect& cells,
                      const std::vector<attention::Token>& queries, const std::vector<attention::Token>& keys,
                      Index head, bool dragMoves) {
  hitArea(name, cells);
  PointedMap map;
  map.hovered = ImGui::IsItemHovered();
  map.held = ImGui::IsItemActive();
  const float still = view.px(4);
  map.clicked =
      ImGui::IsItemDeactivated() && map.hovered && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < still * still;
  const Index n = std::ssize(queries), m = std::ssize(keys);
  const auto rows = static_cast<float>(n), cols = static_cast<float>(m);
  moveCamera(camera, view, cells, rows, cols, dragMoves);
  map.tile = {cells, camera.row, camera.col, rows / camera.zoom, cols / camera.zoom, head};
  noteTabStopKind(TabStopKind::picture, {map.tile.cellWidth(), map.tile.cellHeight()});
  trackCells(name, map.tile, &queries, &keys);
  if (map.hovered || map.held) map.cell = map.tile.cellAt(ImGui::GetIO().MousePos, n, m);
  return map;
}

namespace {

constexpr float kGap = 6, kBar = 34, kSlimGap = 2, kSlimBar = 6;

}  // namespace

float sinkBarsRoom(const View& view) {
  return view.px(kGap + kBar);
}

float sinkBarsGap(const View& view) {
  return view.px(kSlimGap + kSlimBar);
}

void paintSinkBars(const View& view, Canvas list, const HeatTile& tile, Index rows,
                   const std::function<float(Index row)>& share, SinkBars size) {
  const bool slim = size == SinkBars::slim;
  const float from = tile.area.Max.x + view.px(slim ? kSlimGap : kGap),
              to = from + view.px(slim ? kSlimBar : kBar);
  const ImRect area(from, tile.area.Min.y, to, tile.area.Max.y);
  list.AddRectFilled(area.Min, area.Max, view.theme->raised);
  const Index first = std::max<Index>(0, static_cast<Index>(tile.row)),
              last = std::min(rows, static_cast<Index>(std::ceil(tile.row + tile.rows)));
  const Index step = std::max<Index>(1, static_cast<Index>(1 / std::max(tile.cellHeight(), 1e-3f)));
  for (Index row = first; row < last; row += step) {
    const float top = std::max(area.Min.y, tile.y(static_cast<float>(row))),
                bottom = std::min(area.Max.y, tile.y(static_cast<float>(row + step)));
    const float gap = bottom - top > view.px(8) ? view.px(1) : 0;
    list.AddRectFilled(ImVec2(from, top + gap),
                       ImVec2(from + (to - from) * std::clamp(share(row), 0.0f, 1.0f), bottom - gap),
                       view.theme->secondary);
  }
  if (!slim)
    paintText(list, view.fonts->small, ImVec2(area.GetCenter().x, area.Min.y - view.px(9)), view.theme->faint,
              "sink", Align::center);
  track(slim ? "sink." + std::to_string(tile.head) : "sink", area.Min, area.Max);
  if (!ImGui::IsWindowHovered() || !area.Contains(ImGui::GetIO().MousePos)) return;
  const auto row = static_cast<Index>(tile.row + (ImGui::GetIO().MousePos.y - tile.area.Min.y) /
                                                     std::max(tile.cellHeight(), 1e-3f));
  if (row >= first && row < last)
    tooltip(view, "The head's sink takes " + weightText(share(row)) + " of query " + std::to_string(row) +
                      "'s softmax; its keys share the rest.");
}

}  // namespace headscope::app
