#include "app/shell/history_list.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/scene/changed_fields.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

/// Names the steps once per list, since comparing hundreds of scenes takes a while.
void HistoryList::nameSteps() {
  const auto& steps = document_->steps();
  const void* newest = steps.back().scene.get();
  if (newest == named_ && names_.size() == steps.size()) return;
  named_ = newest;
  names_.assign(1, "Start");
  for (std::size_t i = 1; i < steps.size(); ++i)
    names_.push_back(steps[i].file == steps[i - 1].file
                         ? changeName(*steps[i - 1].scene, *steps[i].scene)
                         : "Open " + (steps[i].file->path.empty()
                                          ? std::string("another scene")
                                          : Document::sceneName(steps[i].file->path)));
}

bool HistoryList::row(const View& view, std::size_t step, bool current) const {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(28), y = at.y + height / 2;
  const bool clicked = hitArea(fmt::format("history.{}", step), ImVec2(width, height));
  Canvas list = *ImGui::GetWindowDrawList();
  if (current || ImGui::IsItemHovered())
    list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->raised, view.px(5));
  if (current) list.AddCircleFilled(ImVec2(at.x + view.px(10), y), view.px(3), view.theme->query);
  const bool undone = step > document_->undoSteps();
  paintFitted(view, list, current ? view.fonts->bold : view.fonts->text, ImVec2(at.x + view.px(22), y),
              width - view.px(30), undone ? view.theme->faint : view.theme->text, names_[step]);
  return clicked;
}

void HistoryList::draw(Scene&, View& view, bool opening) {
  if (beginDialog(view, "history", "History", 560, 520)) {
    document_->record();
    nameSteps();
    const std::size_t count = document_->steps().size(), now = document_->undoSteps();
    std::size_t wanted = now;
    if (!uiState().focus.on())
      for (const InputEvent& event : view.input.events) {
        if (event.kind != InputEvent::Kind::key || !event.down) continue;
        if (event.key == Key::up) wanted = std::min(wanted + 1, count - 1);
        if (event.key == Key::down && wanted > 0) --wanted;
        if (event.key == Key::enter) view.dialog.reset();
      }
    hint(view, count == 1 ? "No changes yet." : "Click a step, or move with ↑ and ↓. The page follows.");
    gap(view, 4);
    ImGui::BeginChild("steps", ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground);
    for (std::size_t i = count; i-- > 0;) {
      if (row(view, i, i == now)) wanted = i;
      if (i == now && (opening || wanted != now)) ImGui::SetScrollHereY();
    }
    compat::endChild();
    if (wanted != now) {
      view.controls = {};
      document_->goTo(wanted);
      view.redraw();
    }
  }
  endDialog();
}

}  // namespace headscope::app
