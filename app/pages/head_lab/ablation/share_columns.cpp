#include "app/pages/head_lab/ablation/share_columns.h"

#include <fmt/core.h>

#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

namespace {
constexpr float kNameRoom = 84, kColumnRoom = 58;
constexpr float kLabelRoom = 64, kNumberRoom = 57, kTotalRoom = 56, kLine = 22;  // for lines

constexpr std::size_t kMostColumns = 17;

std::size_t columnsThatFit(const View& view, const ImRect& area) {
  return static_cast<std::size_t>(std::clamp((area.GetWidth() - view.px(kNameRoom)) / view.px(kColumnRoom),
                                             3.0f, static_cast<float>(kMostColumns)));
}

std::size_t linesThatFit(const View& view, const ImRect& area) {
  return static_cast<std::size_t>(
      std::clamp(area.GetHeight() / view.px(kLine) - 1, 1.0f, static_cast<float>(kMostColumns)));
}

/// The table upright.
int paintUpright(const View& view, const ImRect& area, const Columns& columns) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  if (columns.columns.empty()) return -1;
  const float line = view.px(27), left = area.Min.x + view.px(kNameRoom);
  const float each = (area.Max.x - left) / static_cast<float>(columns.columns.size());
  const float table = line * static_cast<float>(columns.rowNames.size() + 1);
  const float base = area.Max.y - table, top = area.Min.y + view.px(22);
  if (base - top < view.px(24)) return -1;  // only the headline
  const double span = std::max(columns.high - columns.low, 1e-30);
  const auto y = [&](double value) {
    return base - view.px(4) -
           static_cast<float>((value - columns.low) / span) * std::max(base - view.px(4) - top, 1.0f);
  };
  list.AddLine(ImVec2(left, y(0)), ImVec2(area.Max.x, y(0)), theme.line);
  int pointed = -1;
  std::optional<ImRect> ghost;
  for (std::size_t i = 0; i < columns.columns.size(); ++i) {
    const Column& column = columns.columns[i];
    const float x0 = left + each * static_cast<float>(i), middle = x0 + each / 2;
    const float half = std::min(each * 0.36f, view.px(28));
    hitArea(fmt::format("{}.{}", columns.name, i), ImVec2(x0, area.Min.y), ImVec2(each, area.GetHeight()));
    if (ImGui::IsItemHovered()) pointed = static_cast<int>(i);
    if (column.lit)
      list.AddRectFilled(ImVec2(x0, area.Min.y), ImVec2(x0 + each, area.Max.y), theme.raised, view.px(3));
    if (column.hovered && !column.lit) ghost = {x0, area.Min.y, x0 + each, area.Max.y};
    const float a = y(std::max(column.from, column.to)),
                b = std::max(y(std::min(column.from, column.to)), a + 1);
    if (column.outlined)
      compat::rectOutline(list, ImVec2(middle - half, a), ImVec2(middle + half, b), column.color, 0,
                          std::max(1.0f, view.px(1.4f)));
    else
      list.AddRectFilled(ImVec2(middle - half, a), ImVec2(middle + half, b), column.color);
    if (i + 1 < columns.columns.size())
      list.AddLine(ImVec2(middle + half, y(column.to)), ImVec2(middle + each - half, y(column.to)),
                   theme.faint);
    const bool last = i + 1 == columns.columns.size();
    paintText(list, last ? view.fonts->mono : view.fonts->monoSmall, ImVec2(middle, a - view.px(11)),
              last ? theme.text : theme.secondary, column.above, Align::center);
    paintText(list, view.fonts->small, ImVec2(middle, base + line / 2),
              column.lit || column.hovered ? theme.text : theme.secondary,
              fitted(view.fonts->small, column.label, each - view.px(2)), Align::center);
    for (std::size_t row = 0; row < column.numbers.size(); ++row) {
      ImFont* font = textWidth(view.fonts->mono, "−0.000") + view.px(4) <= each ? view.fonts->mono
                                                                                : view.fonts->monoSmall;
      paintText(list, font, ImVec2(middle, base + line * (static_cast<float>(row) + 1.5f)),
                columns.rowColors[row], column.numbers[row], Align::center);
    }
  }
  if (ghost) paintGhost(view, list, "ghost", *ghost, theme.text);
  for (std::size_t row = 0; row < columns.rowNames.size(); ++row)
    paintScripted(view, list, view.fonts->mono,
                  ImVec2(area.Min.x, base + line * (static_cast<float>(row) + 1.5f)), columns.rowColors[row],
                  columns.rowNames[row], Align::left, view.px(kNameRoom - 4));
  list.AddLine(ImVec2(area.Min.x, base + line * static_cast<float>(columns.rowNames.size())),
               ImVec2(area.Max.x, base + line * static_cast<float>(columns.rowNames.size())), theme.line);
  return pointed;
}

/// The places of a line's parts, in pixels.
struct LinePlace {
  float left, number, bars, right, high;  ///< `number`: width of one number; bars end where totals begin
  double low, span;

  float x(double value) const { return bars + static_cast<float>((value - low) / span) * (right - bars); }
};

void paintLine(const View& view, const Columns& columns, const Column& column, const LinePlace& place,
               float middle, bool last) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->text, ImVec2(place.left, middle),
            column.lit || column.hovered ? theme.text : theme.secondary,
            fitted(view.fonts->text, column.label, view.px(kLabelRoom - 4)));
  for (std::size_t i = 0; i < column.numbers.size(); ++i)
    paintText(list, view.fonts->mono,
              ImVec2(place.left + view.px(kLabelRoom) + place.number * static_cast<float>(i + 1), middle),
              columns.rowColors[i], column.numbers[i], Align::right);
  const float half = std::min(place.high * 0.3f, view.px(11));
  const float from = place.x(std::min(column.from, column.to)),
              to = std::max(place.x(std::max(column.from, column.to)), from + 1);
  const ImVec2 a(from, middle - half), b(to, middle + half);
  if (column.outlined)
    compat::rectOutline(list, a, b, column.color, 0, std::max(1.0f, view.px(1.4f)));
  else
    list.AddRectFilled(a, b, column.color);
  if (!last)
    list.AddLine(ImVec2(place.x(column.to), middle + half),
                 ImVec2(place.x(column.to), middle + place.high - half), theme.faint);
  paintText(list, last ? view.fonts->mono : view.fonts->monoSmall,
            ImVec2(place.right + view.px(kTotalRoom), middle), last ? theme.text : theme.secondary,
            column.above, Align::right);
}

/// The same table sideways.
int paintLines(const View& view, const ImRect& area, const Columns& columns) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto count = static_cast<float>(columns.columns.size());
  if (count == 0) return -1;
  LinePlace place;
  place.left = area.Min.x;
  place.number = view.px(kNumberRoom);
  place.bars =
      area.Min.x + view.px(kLabelRoom + 14) + place.number * static_cast<float>(columns.rowNames.size());
  place.right = area.Max.x - view.px(kTotalRoom);
  place.high = std::min(area.GetHeight() / (count + 1), view.px(36));
  place.low = columns.low;
  place.span = std::max(columns.high - columns.low, 1e-30);
  const float head = area.Min.y + place.high / 2;
  for (std::size_t i = 0; i < columns.rowNames.size(); ++i)
    paintScripted(view, list, view.fonts->mono,
                  ImVec2(area.Min.x + view.px(kLabelRoom) + place.number * static_cast<float>(i + 1), head),
                  columns.rowColors[i], columns.rowNames[i], Align::right, place.number - view.px(2));
  list.AddLine(ImVec2(place.x(0), area.Min.y + place.high),
               ImVec2(place.x(0), area.Min.y + place.high * (count + 1)), theme.line);
  int pointed = -1;
  std::optional<ImRect> ghost;
  for (std::size_t i = 0; i < columns.columns.size(); ++i) {
    const Column& column = columns.columns[i];
    const float top = area.Min.y + place.high * static_cast<float>(i + 1);
    hitArea(fmt::format("{}.{}", columns.name, i), ImVec2(area.Min.x, top),
            ImVec2(area.GetWidth(), place.high));
    if (ImGui::IsItemHovered()) pointed = static_cast<int>(i);
    if (column.lit)
      list.AddRectFilled(ImVec2(area.Min.x, top), ImVec2(area.Max.x, top + place.high), theme.raised,
                         view.px(3));
    if (column.hovered && !column.lit) ghost = {area.Min.x, top, area.Max.x, top + place.high};
    paintLine(view, columns, column, place, top + place.high / 2, i + 1 == columns.columns.size());
  }
  if (ghost) paintGhost(view, list, "ghost", *ghost, theme.text);
  return pointed;
}

}  // namespace

bool hasLines(const View& view, const ImRect& area, std::size_t wanted) {
  const std::size_t columns = columnsThatFit(view, area);
  return columns < wanted && linesThatFit(view, area) > columns;
}

std::size_t columnRoom(const View& view, const ImRect& area, bool lines) {
  return lines ? linesThatFit(view, area) : columnsThatFit(view, area);
}

float linesHeight(std::size_t lines) {
  return kLine * static_cast<float>(std::min(lines, kMostColumns) + 1);
}

int paintColumns(const View& view, const ImRect& area, const Columns& columns) {
  return (columns.lines ? paintLines : paintUpright)(view, area, columns);
}

}  // namespace headscope::app::head_lab_page
