#include "app/pages/heads/heads_state.h"
#include "app/widgets/controls.h"
#include "app/widgets/panel.h"

namespace headscope::app::heads_page {

void sidePanel(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  const Snapshot* snapshot = page.snapshot.get();
  if (!layout.showLeft) return;
  fillSide(view, layout.left);
  if (beginPanel(view, "heads.controls", layout.left, 20, 14, 0)) {
    inputSection(scene, snapshot, view);
    gap(view, 12);
    modelSection(scene, page);
    gap(view, 12);
    maskSection(scene, snapshot, view);
    gap(view, 12);
    if (scene.setup.subject.model.empty()) {
      weightsSection(scene, snapshot, view);
      gap(view, 12);
    }
    moreSection(scene, view);
    gap(view, 16);
    scrollEdge(view, layout.left);
  }
  endPanel();
}

}  // namespace headscope::app::heads_page
