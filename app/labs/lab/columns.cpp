#include "app/labs/lab/columns.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/scripted_text.h"

namespace headscope::app {

namespace {
constexpr float kNameRoom = 84, kColumnRoom = 58;
}  // namespace

std::size_t columnsThatFit(const View& view, const ImRect& area) {
  return static_cast<std::size_t>(
      std::clamp((area.GetWidth() - view.px(kNameRoom)) / view.px(kColumnRoom), 3.0f, 17.0f));
}

int paintColumns(const View& view, const ImRect& area, const Columns& columns) {
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (columns.columns.empty()) return -1;
  const float line = view.px(27), left = area.Min.x + view.px(kNameRoom);
  const float each = (area.Max.x - left) / static_cast<float>(columns.columns.size());
  const float table = line * static_cast<float>(columns.rowNames.size() + 1);
  const float base = area.Max.y - table, top = area.Min.y + view.px(22);
  if (base - top < view.px(24)) return -1;  // the headline alone
  const double span = std::max(columns.high - columns.low, 1e-30);
  const auto y = [&](double value) {
    return base - view.px(4) -
           static_cast<float>((value - columns.low) / span) * std::max(base - view.px(4) - top, 1.0f);
  };
  list.AddLine(ImVec2(left, y(0)), ImVec2(area.Max.x, y(0)), theme.line);
  int pointed = -1;
  for (std::size_t i = 0; i < columns.columns.size(); ++i) {
    const Column& column = columns.columns[i];
    const float x0 = left + each * static_cast<float>(i), middle = x0 + each / 2;
    const float half = std::min(each * 0.36f, view.px(28));
    ImGui::SetCursorScreenPos(ImVec2(x0, area.Min.y));
    ImGui::PushID(static_cast<int>(i));
    ImGui::InvisibleButton(columns.name.c_str(), ImVec2(each, area.GetHeight()));
    ImGui::PopID();
    trackItem(fmt::format("{}.{}", columns.name, i));
    if (ImGui::IsItemHovered()) pointed = static_cast<int>(i);
    if (column.lit)
      list.AddRectFilled(ImVec2(x0, area.Min.y), ImVec2(x0 + each, area.Max.y), theme.raised, view.px(3));
    const float a = y(std::max(column.from, column.to)),
                b = std::max(y(std::min(column.from, column.to)), a + 1);
    if (column.outlined)
      compat::rectOutline(list, ImVec2(middle - half, a), ImVec2(middle + half, b), column.color, 0,
                          std::max(1.0f, view.px(1.4f)));
    else
      list.AddRectFilled(ImVec2(middle - half, a), ImVec2(middle + half, b), column.color);
    if (columns.joined && i + 1 < columns.columns.size())
      list.AddLine(ImVec2(middle + half, y(column.to)), ImVec2(middle + each - half, y(column.to)),
                   theme.faint);
    const bool last = i + 1 == columns.columns.size();
    paintText(list, last && columns.joined ? view.fonts->mono : view.fonts->monoSmall,
              ImVec2(middle, a - view.px(11)), last && columns.joined ? theme.text : theme.secondary,
              column.above, Align::center);
    paintText(list, view.fonts->small, ImVec2(middle, base + line / 2),
              column.lit ? theme.text : theme.secondary,
              fitted(view.fonts->small, column.label, each - view.px(2)), Align::center);
    for (std::size_t row = 0; row < column.numbers.size(); ++row) {
      ImFont* font = textWidth(view.fonts->mono, "−0.000") + view.px(4) <= each ? view.fonts->mono
                                                                                : view.fonts->monoSmall;
      paintText(list, font, ImVec2(middle, base + line * (static_cast<float>(row) + 1.5f)),
                columns.rowColors[row], column.numbers[row], Align::center);
    }
  }
  for (std::size_t row = 0; row < columns.rowNames.size(); ++row)
    paintScripted(view, list, view.fonts->mono,
                  ImVec2(area.Min.x, base + line * (static_cast<float>(row) + 1.5f)), columns.rowColors[row],
                  columns.rowNames[row], Align::left, view.px(kNameRoom - 4));
  if (!columns.place.empty())
    paintText(list, view.fonts->mono, ImVec2(area.Min.x, base + line / 2), theme.secondary, columns.place);
  list.AddLine(ImVec2(area.Min.x, base + line * static_cast<float>(columns.rowNames.size())),
               ImVec2(area.Max.x, base + line * static_cast<float>(columns.rowNames.size())), theme.line);
  return pointed;
}

}  // namespace headscope::app
