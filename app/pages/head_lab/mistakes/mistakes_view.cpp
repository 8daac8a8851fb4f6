#include <fmt/core.h>

#include "app/pages/head_lab/map_view.h"
#include "app/pages/head_lab/mistakes/mistake_parts.h"
#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

using attention::Matrix;
using attention::MistakeInfo;

const MistakeInfo& infoOf(attention::Mistake mistake) {
  return attention::mistakes()[static_cast<std::size_t>(mistake)];
}

void mistakeList(Scene& scene, const State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(area.Min, area.Max, theme.panel);
  list.AddLine(ImVec2(area.Max.x, area.Min.y), area.Max, theme.line);
  const auto all = attention::mistakes();
  const float groups = 4 * view.px(34);
  const float row =
      std::min(view.px(52), (area.GetHeight() - groups - view.px(12)) / static_cast<float>(all.size()));
  float y = area.Min.y + view.px(6);
  std::string_view group;
  for (const MistakeInfo& info : all) {
    if (info.group != group) {
      group = info.group;
      std::string upper(group);
      for (char& letter : upper) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
      paintSpaced(list, view.fonts->smallBold, ImVec2(area.Min.x + view.px(24), y + view.px(20)), theme.faint,
                  upper, view.px(1));
      y += view.px(34);
    }
    const ImRect cell(area.Min.x, y, area.Max.x, y + row);
    if (hitArea("mistake." + std::string(info.key), cell)) scene.cursor.lab.mistake = info.mistake;
    const bool lit = info.mistake == scene.cursor.lab.mistake;
    if (lit || ImGui::IsItemHovered())
      list.AddRectFilled(cell.Min, cell.Max, lit ? theme.raised : mixed(theme.panel, theme.raised, 0.5f));
    if (lit) list.AddRectFilled(cell.Min, ImVec2(cell.Min.x + view.px(3), cell.Max.y), theme.text);
    const float room = area.GetWidth() - view.px(44), x = area.Min.x + view.px(24);
    const bool both = row >= view.px(40);
    paintText(list, lit ? view.fonts->bold : view.fonts->text,
              ImVec2(x, y + (both ? row / 2 - view.px(10) : row / 2)),
              lit ? theme.text : mixed(theme.secondary, theme.text, 0.6f),
              fitted(view.fonts->text, info.title, room));
    if (both)
      paintText(list, view.fonts->small, ImVec2(x, y + row / 2 + view.px(10)), theme.secondary,
                fitted(view.fonts->small, info.symptom, room));
    y += row;
  }
}

void fixLine(const State& page, const ImRect& area) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const MistakeInfo& info = infoOf(page.study->question.mistake);
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(area.Min, area.GetTR(), theme.line);
  ImVec2 at(area.Min.x, area.GetCenter().y);
  ImFont* font = view.fonts->monoHero;
  const float label = textWidth(view.fonts->smallBold, "FIX") + view.px(39);
  const auto fits = [&](float before) {
    return before + textWidth(font, info.before) + textWidth(font, info.added) + textWidth(font, info.after) +
               view.px(40) <=
           area.GetWidth();
  };
  for (ImFont* smaller : {view.fonts->monoTitle, view.fonts->mono, view.fonts->monoSmall})
    if (!fits(label)) font = smaller;
  if (fits(label))
    at.x += paintSpaced(list, view.fonts->smallBold, at, theme.faint, "FIX", view.px(1)) + view.px(36);
  at.x += paintText(list, font, at, theme.secondary, info.before) + view.px(9);
  const ImVec2 around(view.px(7), lineHeight(font) * 0.75f), added(textWidth(font, info.added), 0);
  list.AddRectFilled(at - around, at + added + around, theme.line, view.px(5));
  paintText(list, font, at, theme.text, info.added);
  paintText(list, font, at + added + ImVec2(view.px(9), 0), theme.secondary, info.after);
}

void paintCross(const View& view, Canvas list, ImVec2 middle, float size) {
  const float thick = std::max(1.5f, view.px(2.4f));
  list.AddLine(ImVec2(middle.x - size, middle.y - size), ImVec2(middle.x + size, middle.y + size),
               view.theme->error, thick);
  list.AddLine(ImVec2(middle.x - size, middle.y + size), ImVec2(middle.x + size, middle.y - size),
               view.theme->error, thick);
}

void paintTick(const View& view, Canvas list, ImVec2 middle, float size) {
  const float thick = std::max(1.5f, view.px(2.4f));
  const ImVec2 corner(middle.x - size * 0.2f, middle.y + size * 0.8f);
  list.AddLine(ImVec2(middle.x - size, middle.y), corner, view.theme->text, thick);
  list.AddLine(corner, ImVec2(middle.x + size, middle.y - size * 0.8f), view.theme->text, thick);
}

namespace {

/// One of the two results.
struct Side {
  const char* name;
  bool wrong;
  std::string_view formula;
  const Matrix& scores;
  const Matrix& weights;
};

/// The weights with masked cells marked; NaN stays NaN.
Matrix shownWeights(const Side& side, VisibleCells rows, VisibleCells cols) {
  Matrix shown = side.weights.block(rows.first, cols.first, rows.count, cols.count);
  for (Index i = 0; i < rows.count; ++i)
    for (Index j = 0; j < cols.count; ++j)
      if (side.scores(rows.first + i, cols.first + j) == -INFINITY && std::isfinite(shown(i, j)) &&
          shown(i, j) == 0)
        shown(i, j) = -INFINITY;
  return shown;
}

void sideTitle(const View& view, const Side& side, const ImRect& cells) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = cells.Min.y - view.px(24);
  const ImVec2 mark(cells.Min.x + view.px(7), y);
  side.wrong ? paintCross(view, list, mark, view.px(5)) : paintTick(view, list, mark, view.px(6));
  float x = cells.Min.x + view.px(24);
  x += paintText(list, view.fonts->title, ImVec2(x, y), theme.text, side.wrong ? "Wrong" : "Right") +
       view.px(14);
  for (ImFont* font : {view.fonts->text, view.fonts->small})
    if (scriptedWidth(view, font, side.formula) <= cells.Max.x - x) {
      paintScripted(view, list, font, ImVec2(x, y), theme.secondary, side.formula);
      break;
    }
  list.AddRectFilled(ImVec2(cells.Min.x, cells.Min.y - view.px(6)),
                     ImVec2(cells.Max.x, cells.Min.y - view.px(3)), side.wrong ? theme.error : theme.text);
}

/// Draws the row's weights as bars above its scores, in the map's columns.
void rowBars(const State& page, const Side& side, const MapView& map, Index row, float top, float high) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float each = map.cells.GetWidth() / static_cast<float>(map.cols.count),
              half = std::min(each * 0.34f, view.px(14));
  const float base = top + high;
  list.AddLine(ImVec2(map.cells.Min.x, base), ImVec2(map.cells.Max.x, base), theme.line);
  for (Index j = 0; j < map.cols.count; ++j) {
    const Index key = map.cols.first + j;
    const float x = map.cells.Min.x + (static_cast<float>(j) + 0.5f) * each;
    const float weight = side.weights(row, key), score = side.scores(row, key);
    if (score == -INFINITY && (weight == 0 || std::isnan(weight))) continue;
    list.AddRectFilled(ImVec2(x - half, top), ImVec2(x + half, base), theme.panel);
    if (std::isfinite(weight))
      list.AddRectFilled(ImVec2(x - half, base - std::clamp(weight, 0.0f, 1.0f) * high),
                         ImVec2(x + half, base), theme.key);
    const auto number = [&](float y, std::uint32_t color, const std::string& text) {
      if (textWidth(view.fonts->monoSmall, text) <= each - 2)
        paintText(list, view.fonts->monoSmall, ImVec2(x, y), color, text, Align::center);
    };
    if (std::isnan(weight)) number(base - view.px(10), theme.text, "NaN");
    number(base + view.px(12), theme.secondary, std::isnan(score) ? "NaN" : shortNumber(score, false));
  }
}

/// Draws two shapes one above the other, with the clashing numbers in red, and the framework's message.
void clashView(const View& view, const attention::ShapeClash& clash, const ImRect& area) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  float y = area.Min.y + view.px(40);
  const auto line = [&](const std::string& name, const std::vector<Index>& shape, std::size_t at) {
    float x = area.Min.x + view.px(8);
    paintScripted(view, list, view.fonts->mono, ImVec2(x, y), theme.secondary, name);
    y += view.px(32);
    x += paintText(list, view.fonts->monoHero, ImVec2(x, y), theme.secondary, "[");
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::string text = std::to_string(shape[i]);
      const float wide = textWidth(view.fonts->monoHero, text);
      if (i == at) {
        const float pad = view.px(4), half = lineHeight(view.fonts->monoHero) * 0.75f;
        compat::rectOutline(list, ImVec2(x - pad, y - half), ImVec2(x + wide + pad, y + half), theme.error,
                            view.px(4), std::max(1.5f, view.px(2)));
      }
      x += paintText(list, view.fonts->monoHero, ImVec2(x, y), i == at ? theme.error : theme.text, text);
      if (i == at) x += view.px(7);  // space for the outline
      x += paintText(list, view.fonts->monoHero, ImVec2(x, y), theme.secondary,
                     i + 1 < shape.size() ? ", " : "]");
    }
    y += view.px(44);
  };
  line(clash.leftName, clash.left, clash.leftAt);
  line(clash.rightName, clash.right, clash.rightAt);
  paintParagraph(list, view.fonts->mono, ImVec2(area.Min.x + view.px(8), y), area.GetWidth() - view.px(16),
                 theme.text, clash.message);
}

}  // namespace

void wrongMaps(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const MistakeStudy& study = *page.study;
  const attention::MistakeResult& result = study.result;
  const MistakeInfo& info = infoOf(study.question.mistake);
  const Index n = result.rightWeights.rows(), m = result.rightWeights.cols();
  const float labels = rowNamesRoom(view, study.queries, 74), space = view.px(40);
  // In low areas, bars would take the maps' space.
  const float units = area.GetHeight() / view.unit, bars = view.px(units > 520 ? 138 : units > 330 ? 88 : 0);
  const float below = bars + view.px(62), least = bars > 0 ? 12 : 8;
  const float wide = (area.GetWidth() - labels - space) / 2, title = std::min(view.px(180), wide);
  const auto fits = [&](float pixels) { return std::min<Index>(cellsThatFit(view, pixels, least), 48); };
  // For a long text, a line above the maps says which part is visible.
  float top = view.px(40);
  if (fits(area.GetHeight() - top - below) < n || fits(wide) < m) top += view.px(22);
  const ImVec2 from = area.Min + ImVec2(labels, top);
  if (wide < view.px(40) || area.GetHeight() - top - below < view.px(40)) return;
  const MapView base =
      tokenMap(scene, page, "", ImRect(from, from + ImVec2(wide, area.GetHeight() - top - below)), n, m,
               {least, 40, 48});
  const ImRect& cells = base.cells;
  const bool previews = base.row.hovered >= 0 && base.row.hovered != base.row.selected;
  const float across = std::max(cells.GetWidth(), title), next = std::round(across + space);
  const Side sides[] = {{"wrong", true, info.wrong, result.wrongScores, result.wrongWeights},
                        {"right", false, info.right, result.rightScores, result.rightWeights}};
  for (const Side& side : sides) {
    MapView map = base;
    map.name = side.name;
    map.weights = true;
    if (!side.wrong) map.cells.TranslateX(next);
    const ImRect at = map.cells;
    sideTitle(view, side, ImRect(at.Min, at.Min + ImVec2(across, at.GetHeight())));
    if (side.wrong && result.clash) {
      clashView(view, *result.clash,
                ImRect(at.Min, at.Min + ImVec2(next - labels - view.px(8), at.GetHeight())));
      continue;
    }
    if (side.weights.size() == 0) continue;
    paintMap(scene, page, map, shownWeights(side, map.rows, map.cols));
    const bool first = side.wrong || result.clash;
    if (first) rowNames(page, map, study.queries, labels);
    if (bars > 0) {
      const float start = at.Max.y + view.px(12), high = below - view.px(124);
      rowBars(page, side, map, previews ? map.row.hovered : map.row.selected, start, high);
      if (previews && first) paintHoverTag(view, ImVec2(at.Min.x - labels, start + high));
      map.cells.Max.y = start + high + view.px(18);
    }
    columnNames(page, map, study.keys);
    map.cells = at;
    chooseCell(scene, page, hitMap(map));
  }
  Canvas list = *ImGui::GetWindowDrawList();
  paintFitted(view, list, view.fonts->small, ImVec2(cells.Min.x, area.Min.y + view.px(8)),
              area.Max.x - cells.Min.x, theme.secondary, visiblePartText(base.rows, n, base.cols, m));
  const float beside = cells.Min.x - view.px(8);
  paintText(list, view.fonts->small, ImVec2(beside + (result.clash ? next : 0), cells.Min.y - view.px(24)),
            theme.query, "query ↓", Align::right);
  if (!result.clash)
    paintText(list, view.fonts->small, ImVec2(beside, cells.Max.y + view.px(16)), theme.key, "key →",
              Align::right);
}

}  // namespace headscope::app::head_lab_page
