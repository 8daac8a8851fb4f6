#include "app/shell/panels.h"
#include "app/widgets/controls.h"

namespace headscope::app {

void sidePanel(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout) {
  if (!layout.showLeft) return;
  ImDrawList& back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(layout.left.Min, layout.left.Max, view.theme->panel);
  back.AddLine(ImVec2(layout.left.Max.x, layout.left.Min.y), layout.left.Max, view.theme->line);
  if (beginPanel(view, "side", layout.left, 20, 14, 0)) {
    noteScroll(view);
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
    scrollEdge(view, layout.left);
  }
  endPanel();
}

}  // namespace headscope::app
