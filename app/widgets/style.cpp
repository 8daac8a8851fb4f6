#include "app/widgets/style.h"

namespace headscope::app {

void applyImGuiStyle(const View& view) {
  const Theme& theme = *view.theme;
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.ItemSpacing = ImVec2(view.px(6), view.px(4));
  style.WindowBorderSize = 0;
  style.PopupBorderSize = 1;
  style.PopupRounding = view.px(8);
  style.ChildRounding = view.px(6);
  style.FrameRounding = view.px(5);
  style.ScrollbarSize = view.px(10);
  style.ScrollbarRounding = view.px(5);
  style.WindowMinSize = ImVec2(1, 1);
  const auto set = [&](ImGuiCol index, std::uint32_t color) {
    style.Colors[index] = ImGui::ColorConvertU32ToFloat4(color);
  };
  set(ImGuiCol_Text, theme.text);
  set(ImGuiCol_PopupBg, theme.raised);
  set(ImGuiCol_ChildBg, 0);
  set(ImGuiCol_Border, theme.line);
  set(ImGuiCol_FrameBg, theme.background);
  set(ImGuiCol_FrameBgHovered, theme.background);
  set(ImGuiCol_FrameBgActive, theme.background);
  set(ImGuiCol_TextSelectedBg, faded(theme.key, 0.35f));
  set(ImGuiCol_ScrollbarBg, 0);
  set(ImGuiCol_ScrollbarGrab, theme.line);
  set(ImGuiCol_ScrollbarGrabHovered, theme.faint);
  set(ImGuiCol_ScrollbarGrabActive, theme.secondary);
  set(ImGuiCol_NavHighlight, 0);
  set(ImGuiCol_ModalWindowDimBg, faded(theme.background, 0.6f));
}

}  // namespace headscope::app
