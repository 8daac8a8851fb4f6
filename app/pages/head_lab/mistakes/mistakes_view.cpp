#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/head_lab/mistakes/mistake_parts.h"
#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app::head_lab_page {

using attention::Matrix;
using attention::MistakeInfo;

namespace {

const MistakeInfo& infoOf(attention::Mistake mistake) {
  return attention::mistakes()[static_cast<std::size_t>(mistake)];
}

/// Draws all mistakes by group; a click selects one.
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

/// Says that the mistake changes nothing here, with a button for a case in which it does.
void sameHere(Scene& scene, const State& page, const ImRect& area) {
  View& view = page.view;
  const std::string& same = page.study->result.same;
  Canvas list = *ImGui::GetWindowDrawList();
  const float high = paintParagraph(list, view.fonts->text, area.Min, area.GetWidth(), view.theme->secondary,
                                    "No difference here: " + same + ".");
  if (!page.study->question.snapshot) return;
  ImGui::SetCursorScreenPos(ImVec2(area.Min.x, area.Min.y + high + view.px(8)));
  if (button(view, "wrong.show", "Show on a random layer")) scene.cursor.lab.subject = MistakeSubject::random;
}

/// Draws the line that fixes the mistake, with the added part highlighted.
void fixLine(const State& page, const ImRect& area) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const MistakeInfo& info = infoOf(page.study->question.mistake);
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), theme.line);
  const float y = (area.Min.y + area.Max.y) / 2;
  float x = area.Min.x;
  // While presenting, the lecturer says that this is the fix.
  if (!page.presents)
    x += paintSpaced(list, view.fonts->smallBold, ImVec2(x, y), theme.faint, "FIX", view.px(1)) + view.px(36);
  ImFont* font = view.fonts->monoHero;
  const auto wide = [&](ImFont* f) {
    return textWidth(f, info.before) + textWidth(f, info.added) + textWidth(f, info.after) + view.px(40);
  };
  for (ImFont* smaller : {view.fonts->monoTitle, view.fonts->mono, view.fonts->monoSmall})
    if (x + wide(font) > area.Max.x) font = smaller;
  x += paintText(list, font, ImVec2(x, y), theme.secondary, info.before);
  const float pad = view.px(7), added = textWidth(font, info.added);
  x += pad + view.px(2);
  list.AddRectFilled(ImVec2(x - pad, y - lineHeight(font) * 0.75f),
                     ImVec2(x + added + pad, y + lineHeight(font) * 0.75f), theme.line, view.px(5));
  paintText(list, font, ImVec2(x, y), theme.text, info.added);
  x += added + pad + view.px(2);
  paintText(list, font, ImVec2(x, y), theme.secondary, info.after);
  track("wrong.fix", area.Min, area.Max);
}

}  // namespace

namespace {

/// While presenting: both maps, the revealing numbers and the fix; the lecturer explains the rest.
void presentedRoom(Scene& scene, State& page, const ImRect& area) {
  const View& view = page.view;
  const MistakeStudy& study = *page.study;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImRect rest(area.Min.x + view.px(20), area.Min.y + view.px(10), area.Max.x - view.px(20), area.Max.y);
  paintText(list, view.fonts->hero, ImVec2(rest.Min.x, rest.Min.y + view.px(16)), view.theme->text,
            fitted(view.fonts->hero, infoOf(study.question.mistake).title, rest.GetWidth()));
  const float fix = rest.Max.y - view.px(46), top = rest.Min.y + view.px(36);
  const ImRect measures(rest.Max.x - view.px(210), top + view.px(16), rest.Max.x, fix);
  fixLine(page, ImRect(rest.Min.x, fix, rest.Max.x, rest.Max.y));
  wrongMaps(scene, page, ImRect(rest.Min.x, top, measures.Min.x - view.px(20), fix));
  if (!study.result.same.empty())
    paintParagraph(list, view.fonts->text, measures.Min, measures.GetWidth(), view.theme->secondary,
                   "No difference here: " + study.result.same + ".");
  else
    wrongMeasures(page, measures, view.px(34));
}

}  // namespace

void mistakesView(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const bool small = page.small;
  if (page.presents) {
    if (page.study) presentedRoom(scene, page, area);
    return;
  }
  ImRect rest = area;
  if (!small) {
    mistakeList(scene, page, ImRect(area.Min.x, area.Min.y, area.Min.x + view.px(372), area.Max.y));
    rest.Min.x += view.px(372);
  }
  if (!page.study) return;
  const MistakeStudy& study = *page.study;
  const MistakeInfo& info = infoOf(study.question.mistake);
  const float margin = view.px(small ? 20 : 36);
  rest = ImRect(rest.Min.x + margin, rest.Min.y + view.px(small ? 8 : 24),
                rest.Max.x - view.px(small ? 20 : 32), rest.Max.y);
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->hero, ImVec2(rest.Min.x, rest.Min.y + view.px(16)), theme.text, info.title);
  float y = rest.Min.y + view.px(34);
  y += paintParagraph(list, view.fonts->text, ImVec2(rest.Min.x, y), rest.GetWidth(), theme.secondary,
                      info.sentence);
  const float fix = view.px(small ? 46 : 84);
  fixLine(page, ImRect(rest.Min.x, rest.Max.y - fix, rest.Max.x, rest.Max.y));
  const float side = std::min(view.px(small ? 250 : 400), rest.GetWidth() * 0.28f);
  const ImRect maps(rest.Min.x, y + view.px(small ? 10 : 24), rest.Max.x - side - view.px(small ? 20 : 48),
                    rest.Max.y - fix - view.px(8));
  const ImRect same = wrongMaps(scene, page, maps);
  if (!study.result.same.empty()) sameHere(scene, page, same);
  wrongSide(scene, page, ImRect(rest.Max.x - side, maps.Min.y, rest.Max.x, maps.Max.y));
}

}  // namespace headscope::app::head_lab_page
