#include "app/widgets/paint.h"

#include <algorithm>

#include "app/platform/track.h"

namespace headscope::app {

void paintFitted(const View& view, Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                 std::string_view text, Align align) {
  const std::string shown = fitted(font, text, width);
  const float drawn = paintText(list, font, at, color, shown, align);
  if (shown == text) return;
  const float left = align == Align::left ? at.x : align == Align::right ? at.x - drawn : at.x - drawn / 2;
  const float half = lineHeight(font) * 0.6f;
  if (ImGui::IsMouseHoveringRect(ImVec2(left, at.y - half), ImVec2(left + drawn, at.y + half)))
    tooltip(view, text);
}

namespace {

/// Paints a box at the pointer's x, below `clear`, or above it if there is too little space below.
void paintTooltip(const View& view, std::string_view said, const ImRect& clear, float above) {
  if (said.empty()) return;
  ImFont* font = view.fonts->small;
  const float pad = view.px(9);
  const TextLines text = linesOf(font, said, view.px(320));
  const ImVec2 size = text.size;
  const ImVec2 screen = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  ImVec2 at(mouse.x + view.px(14), clear.Max.y);
  at.x = std::max(0.0f, std::min(at.x, screen.x - size.x - 2 * pad));
  if (at.y + size.y + 2 * pad > screen.y) at.y = clear.Min.y - size.y - 2 * pad - above;
  Canvas list = *ImGui::GetForegroundDrawList();
  const ImVec2 to(at.x + size.x + 2 * pad, at.y + size.y + 2 * pad);
  list.AddRectFilled(at, to, view.theme->raised, view.px(6));
  compat::rectOutline(list, at, to, view.theme->line, view.px(6), 1);
  paintLines(list, font, ImVec2(at.x + pad, at.y + pad), view.theme->text, text, said);
  track("tooltip", at, to);
}

}  // namespace

void tooltip(const View& view, std::string_view text) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  paintTooltip(view, text, ImRect(mouse, ImVec2(mouse.x, mouse.y + view.px(18))), view.px(6));
}

void tooltipBeside(const View& view, std::string_view text, const ImRect& clear) {
  const float space = view.px(6);
  paintTooltip(view, text, ImRect(clear.Min, ImVec2(clear.Max.x, clear.Max.y + space)), space);
}

float paintBadge(const View& view, Canvas list, ImVec2 leftMiddle, std::uint32_t color,
                 std::string_view text) {
  ImFont* font = view.fonts->small;
  const float width = textWidth(font, text) + view.px(12), half = view.px(9);
  list.AddRectFilled(ImVec2(leftMiddle.x, leftMiddle.y - half),
                     ImVec2(leftMiddle.x + width, leftMiddle.y + half),
                     faded(color, view.theme->light ? 0.1f : 0.18f), view.px(4));
  paintText(list, font, ImVec2(leftMiddle.x + view.px(6), leftMiddle.y), color, text);
  return width;
}

}  // namespace headscope::app
