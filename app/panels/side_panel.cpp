#include "app/panels/panels.h"
#include "app/widgets/controls.h"

namespace headscope::app {

void sidePanel(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout) {
  if (!layout.showLeft) return;
  ImDrawList& back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(layout.left.Min, layout.left.Max, view.theme->panel);
  back.AddLine(ImVec2(layout.left.Max.x, layout.left.Min.y), layout.left.Max, view.theme->line);
  if (beginPanel(view, "side", layout.left, 20, 14, 0)) {
    // The panel scrolls without a bar of its own; what is below the edge shows by being cut.
    static float lastScroll = 0;
    if (ImGui::GetScrollY() != lastScroll) view.scrolledAt = view.time;
    lastScroll = ImGui::GetScrollY();
    inputSection(scene, snapshot, view);
    gap(view, 12);
    modelSection(scene, snapshot, view);
    gap(view, 12);
    maskSection(scene, snapshot, view);
    gap(view, 12);
    weightsSection(scene, snapshot, view);
    gap(view, 12);
    moreSection(scene, view);
    gap(view, 16);
    const float more = ImGui::GetScrollMaxY() - ImGui::GetScrollY();
    if (more > view.px(6)) {
      ImDrawList& list = *ImGui::GetWindowDrawList();
      const ImVec2 bottom = layout.left.Max;
      const std::uint32_t solid = view.theme->panel, clear = faded(solid, 0);
      list.AddRectFilledMultiColor(ImVec2(layout.left.Min.x, bottom.y - view.px(36)), bottom, clear, clear,
                                   solid, solid);
    }
  }
  endPanel();
}

}  // namespace headscope::app
