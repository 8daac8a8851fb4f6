#include <fmt/core.h>

#include "app/pages/head_lab/ablation/ablation_state.h"
#include "app/pages/head_lab/map_view.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

void toggleHead(Scene& scene, Index head) {
  SubjectSetup& subject = scene.setup.subject;
  const Index layer = shownLayer(scene.setup);
  switchHead(subject, {layer, head, scene.cursor.lab.offBy}, switchedOff(subject, layer, head) == nullptr);
}

bool anyOff(const Scene& scene) {
  const auto& off = scene.setup.subject.switchedOff;
  return std::any_of(off.begin(), off.end(),
                     [&](const SwitchedHead& one) { return one.layer == shownLayer(scene.setup); });
}

namespace {

/// The picture's rows: all heads, then the bias, then all switched-off heads together.
struct EffectRows {
  attention::Matrix values;  ///< [rows, n]
  Index heads = 0;
  Index bias = -1, together = -1;  ///< row indices; −1 = no such row
};

/// What replaces a head: for one that is off, its own replacement; for the others, the selected one.
HeadOff standInOf(const AblationStudy& study, Index head, HeadOff chosen) {
  const Setup& setup = study.question->question.snapshot->setup;
  const SwitchedHead* off = switchedOff(setup.subject, shownLayer(setup), head);
  return off ? off->by : chosen;
}

EffectRows rowsOf(const HeadLabCursor& at, const AblationState& ablation) {
  const AblationStudy& study = *ablation.study;
  const attention::HeadShares& shares = study.shares;
  const bool cosine = at.measure == AblationMeasure::cosine;
  attention::Matrix heads = cosine ? shares.cosine : shares.byZero;
  for (Index head = 0; !cosine && head < heads.rows(); ++head)
    if (standInOf(study, head, at.offBy) == HeadOff::mean) heads.row(head) = shares.byMean.row(head);
  EffectRows rows;
  rows.heads = heads.rows();
  const bool hasBias = shares.biasAmount.size() > 0 && shares.biasAmount.maxCoeff() > 0;
  // Replacing the bias by its mean changes nothing, because it is the same for all tokens.
  if (hasBias && (cosine || at.offBy == HeadOff::zero)) rows.bias = rows.heads;
  if (!cosine && !study.off.empty()) rows.together = rows.heads + (rows.bias >= 0 ? 1 : 0);
  rows.values = attention::Matrix::Zero(rows.heads + (rows.bias >= 0 ? 1 : 0) + (rows.together >= 0 ? 1 : 0),
                                        heads.cols());
  rows.values.topRows(rows.heads) = heads;
  if (rows.bias >= 0)
    rows.values.row(rows.bias) =
        cosine
            ? Eigen::RowVectorXf(shares.biasCosine.transpose())
            : Eigen::RowVectorXf((shares.biasAmount.array() / shares.whole.array().max(1e-30f)).transpose());
  if (rows.together >= 0) rows.values.row(rows.together) = study.together.transpose();
  return rows;
}

/// Draws a head's checkbox, ticked while the head is on.
void box(Scene& scene, const AblationState& ablation, Index head, ImVec2 middle, float size) {
  const View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const bool on = !switchedOff(scene.setup.subject, shownLayer(scene.setup), head);
  const ImVec2 from(std::round(middle.x - size / 2), std::round(middle.y - size / 2)),
      to = from + ImVec2(size, size);
  const float hit = std::max(size, view.px(14));
  const bool clicked =
      hitArea(fmt::format("ablation.box.{}", head), ImVec2(middle.x - hit / 2, middle.y - size / 2),
              ImVec2(hit, std::max(size, 1.0f)));
  if (ImGui::IsItemHovered()) {
    ablation.page.view.nextHover.head = head;
    tooltip(view, on ? "Switch this head off" : "Switch this head on again");
  }
  compat::rectOutline(list, from, to, on ? theme.text : theme.secondary, view.px(2),
                      std::max(1.0f, view.px(1.4f)));
  if (on && size >= view.px(8)) {
    const ImVec2 corner = from + ImVec2(0.43f, 0.72f) * size;
    list.AddLine(from + ImVec2(0.24f, 0.52f) * size, corner, theme.text, view.px(1.8f));
    list.AddLine(corner, from + ImVec2(0.78f, 0.3f) * size, theme.text, view.px(1.8f));
  } else if (on) {
    list.AddRectFilled(from + ImVec2(2, 2), to - ImVec2(2, 2), theme.text);
  }
  if (clicked) {
    toggleHead(scene, head);
    scene.cursor.cell.head = head;
  }
}

/// The number of columns for row names. If rows are lower than a line of text, names alternate between
/// columns so that they don't overlap.
Index nameColumns(const View& view, float cell) {
  return std::clamp<Index>(static_cast<Index>(std::ceil(lineHeight(view.fonts->small) / cell)), 1, 3);
}
constexpr float kNameColumn = 46, kMeanColumn = 46;  ///< for low rows, in layout units
/// The widths left and right of the cells, in pixels.
struct MapSides {
  float names = 0, means = 0;
  bool showsMeans = true;
};
/// Means leave if they would take the cells' space.
MapSides sidesOf(const View& view, float width, Index columns) {
  MapSides sides{view.px(columns == 1 ? 140 : kNameColumn * static_cast<float>(columns) + 14),
                 view.px(64 + kMeanColumn * static_cast<float>(columns - 1))};
  sides.showsMeans = width - sides.names - sides.means >= view.px(150);
  if (!sides.showsMeans) sides.means = view.px(8);
  return sides;
}

std::string rowName(const EffectRows& rows, Index row, bool low) {
  if (row < rows.heads) return low ? std::to_string(row) : headName(row);
  return row == rows.bias ? "bias" : low ? "off" : "switched off";
}

/// Draws the checkbox, name and kv badge left of a row, and its mean on the right.
void rowHeader(Scene& scene, const AblationState& ablation, const EffectRows& rows, const MapView& map,
               float left, bool showsMeans, Index row) {
  const View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::AttentionConfig& config = ablation.study->question->config();
  const Index real = ablation.study->question->sequence().queryLength;
  const float cell = map.cells.GetHeight() / static_cast<float>(map.rows.count);
  const Index columns = nameColumns(view, cell), column = row % columns;
  const bool large = cell >= view.px(22), low = columns > 1;
  ImFont* font = large ? view.fonts->text : view.fonts->small;
  ImFont* mono = large ? view.fonts->mono : view.fonts->monoSmall;
  const float y = map.cells.Min.y + (static_cast<float>(row - map.rows.first) + 0.5f) * cell;
  const bool isHead = row < rows.heads, lit = row == map.row.selected || row == map.row.hovered;
  const std::uint32_t color = lit ? theme.text : theme.secondary;
  float x = left + view.px(kNameColumn) * static_cast<float>(column);
  const float room = cell * static_cast<float>(columns) * 0.8f;
  if (isHead) box(scene, ablation, row, ImVec2(x + view.px(9), y), std::min(view.px(low ? 12 : 15), room));
  x += view.px(low ? 20 : 26);
  const float wide = paintText(list, font, ImVec2(x, y), color, rowName(rows, row, low));
  const bool off = isHead && switchedOff(scene.setup.subject, shownLayer(scene.setup), row);
  if (off) list.AddLine(ImVec2(x, y), ImVec2(x + wide, y), color, view.px(1.4f));
  x += wide + view.px(8);
  if (large && isHead && config.kvHeads < config.heads)
    paintBadge(view, list, ImVec2(x, y), groupColor(theme, config.kvHeadOf(row)),
               kvName(config.kvHeadOf(row)));
  const std::uint32_t leads = lit ? theme.secondary : theme.line;
  if (low) list.AddLine(ImVec2(x - view.px(4), y), ImVec2(map.cells.Min.x - view.px(3), y), leads);
  if (!showsMeans) return;
  const double mean = real > 0 ? rows.values.row(row).head(real).cast<double>().mean() : 0;
  const float right = map.cells.Max.x + view.px(60 + kMeanColumn * static_cast<float>(column));
  const float begins = right - textWidth(mono, cellText(mean));
  paintText(list, mono, ImVec2(right, y), color, cellText(mean), Align::right);
  if (low) list.AddLine(ImVec2(map.cells.Max.x + view.px(3), y), ImVec2(begins - view.px(4), y), leads);
}

void rowHeaders(Scene& scene, const AblationState& ablation, const EffectRows& rows, const MapView& map,
                float left, bool showsMeans) {
  const View& view = ablation.page.view;
  for (Index row = map.rows.first; row < map.rows.end(); ++row)
    rowHeader(scene, ablation, rows, map, left, showsMeans, row);
  const float cell = map.cells.GetHeight() / static_cast<float>(map.rows.count);
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = map.cells.Min.y - view.px(10);
  const Index columns = nameColumns(view, cell);
  if (showsMeans)
    paintText(list, view.fonts->small, ImVec2(map.cells.Max.x + view.px(60), y), view.theme->secondary,
              "mean", Align::right);
  if (columns > 1) paintText(list, view.fonts->small, ImVec2(left, y), view.theme->secondary, "head");
}

}  // namespace

void ablationMap(Scene& scene, AblationState& ablation, const ImRect& area) {
  View& view = ablation.page.view;
  const EffectRows rows = rowsOf(scene.cursor.lab, ablation);
  const SequenceSnapshot& sequence = ablation.study->question->sequence();
  const Index n = rows.values.cols(), count = rows.values.rows();
  const float foot = view.px(62), head = view.px(44), high = area.GetHeight() - foot - head;
  const Index columns = nameColumns(view, high / static_cast<float>(count));
  const MapSides sides = sidesOf(view, area.GetWidth(), columns);
  const float wide = area.GetWidth() - sides.names - sides.means;
  if (n == 0 || wide < view.px(60) || high < view.px(40)) return;
  MapView map;
  map.name = "ablation";
  map.row = {std::min(scene.cursor.cell.head, rows.heads - 1), view.hover.head};
  map.col = {std::min(scene.cursor.cell.query, n - 1), view.hover.query};
  map.rows = windowOf(count, static_cast<Index>(high / view.px(5)), map.row.selected);
  map.cols = windowOf(n, static_cast<Index>(wide / view.px(3)), map.col.selected);
  const float cellWide = std::min(wide / static_cast<float>(map.cols.count), view.px(84));
  const float cellHigh = std::min(high / static_cast<float>(map.rows.count), view.px(84));
  const ImVec2 at = ImFloor(area.Min + ImVec2(sides.names, head));
  const auto whole = [](float size) { return size >= 4 ? std::floor(size) : size; };
  map.cells = ImRect(at, at + ImVec2(whole(cellWide) * static_cast<float>(map.cols.count),
                                     whole(cellHigh) * static_cast<float>(map.rows.count)));
  map.rowColor = view.theme->text;
  map.colColor = view.theme->query;
  map.weights = true;
  Look look = scene.look;
  if (scene.cursor.lab.measure == AblationMeasure::cosine) {
    map.low = -1;
    map.weights = false;
    look.colormap = render::Colormap::diverging;
  } else {
    map.high = std::max(rows.values.leftCols(std::max<Index>(sequence.queryLength, 1)).maxCoeff(), 1e-6f);
  }
  const attention::Matrix values =
      rows.values.block(map.rows.first, map.cols.first, map.rows.count, map.cols.count);
  Scene shown = scene;
  shown.look = look;
  paintMap(shown, ablation.page, map, values);
  const MapHit hit = hitMap(map);
  if (hit.row >= 0) {
    view.nextHover.query = hit.col;
    if (hit.row < rows.heads) view.nextHover.head = hit.row;
    if (hit.clicked) {
      scene.cursor.cell.query = hit.col;
      if (hit.row < rows.heads) scene.cursor.cell.head = hit.row;
    }
    const bool byMean = hit.row < rows.heads && scene.cursor.lab.measure == AblationMeasure::effect &&
                        standInOf(*ablation.study, hit.row, scene.cursor.lab.offBy) == HeadOff::mean;
    const std::string who = hit.row < rows.heads ? headName(hit.row) + (byMean ? " replaced by its mean" : "")
                            : hit.row == rows.bias ? "Bias"
                                                   : "Switched-off heads";
    const std::string token = sequence.queries[static_cast<std::size_t>(hit.col)].text;
    tooltip(view, fmt::format("{}, “{}”: {}", who, token,
                              cellText(static_cast<double>(rows.values(hit.row, hit.col)))));
  }
  columnNames(ablation.page, map, sequence.queries);
  if (!map.cols.whole(n))
    paintFitted(view, *ImGui::GetWindowDrawList(), view.fonts->small, map.cells.Min - ImVec2(0, view.px(10)),
                map.cells.GetWidth() - view.px(150), view.theme->secondary,
                fmt::format("tokens {}–{} of {}", map.cols.first, map.cols.end() - 1, n));
  rowHeaders(scene, ablation, rows, map, area.Min.x, sides.showsMeans);
  mapScale(shown, ablation.page, map, map.cells.GetTR() - ImVec2(0, view.px(22)), view.px(140),
           map.low < 0 ? "0" : "");
}

}  // namespace headscope::app::head_lab_page
