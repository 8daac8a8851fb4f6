#include "app/pages/head_lab/head_lab_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

Cell selectedCell(const Scene& scene, const State& page) {
  const Cell& cell = scene.cursor.cell;
  const SequenceSnapshot& sequence = page.layer->sequence();
  const auto last = [](const auto& tokens) { return static_cast<Index>(tokens.size()) - 1; };
  return {page.head->question.head, std::clamp<Index>(cell.query, 0, last(sequence.queries)),
          std::clamp<Index>(cell.key, 0, last(sequence.keys))};
}

float paintHoverTag(const View& view, ImVec2 leftMiddle) {
  return paintBadge(view, *ImGui::GetWindowDrawList(), leftMiddle, view.theme->secondary, "hover") +
         view.px(8);
}

void paintGhostOf(const View& view, const std::string& name) {
  if (const auto place = tracked(name))
    paintGhost(view, *ImGui::GetWindowDrawList(), "ghost", *place, view.theme->text);
}

}  // namespace headscope::app::head_lab_page
