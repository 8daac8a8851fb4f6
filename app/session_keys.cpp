// The part of Session that routes keys: to the control with the keyboard focus, then to the page's actions,
// then to the window's.

#include <algorithm>

#include "app/platform/ui_state.h"
#include "app/session.h"
#include "app/shell/stage_overlay.h"

namespace headscope::app {

void Session::handleInput(const FrameInput& input) {
  View& view = services_.view;
  for (const InputEvent& event : input.events) {
    if (event.kind == InputEvent::Kind::mouseMove || event.kind == InputEvent::Kind::mouseButton ||
        event.kind == InputEvent::Kind::wheel)
      presentation_.state().movedAt = view.time;
    const bool edge = event.kind == InputEvent::Kind::key || event.kind == InputEvent::Kind::mouseButton;
    if (edge && event.down) {
      view.pressedAt = ImGui::GetIO().MousePos;
      view.told.text.clear();
    }
    if (event.kind == InputEvent::Kind::drop && !event.paths.empty())
      files_.open(event.paths.front(), Outcome(view));
    if (event.kind != InputEvent::Kind::key || !event.down) continue;
    if (takenByControl(event)) {
      view.controls.keyTakenFrame = ImGui::GetFrameCount();
      view.redraw();
      continue;
    }
    if (view.dialog) {
      if (event.key == Key::escape) view.dialog.reset();
      continue;
    }
    const bool listOpen =
        ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    if (listOpen && event.key == Key::escape) continue;  // closes only the list
    if (event.key == Key::escape && (presentation_.state().blank || presentation_.state().frozen)) {
      presentation_.state().blank = presentation_.state().frozen = false;
      continue;
    }
    if (view.takenBySlider(event.key)) continue;
    const bool typing = ImGui::GetIO().WantTextInput;
    const Action* const action = actionFor(event, typing);
    if (action && (view.present || !isStageKey(*action))) {
      presentation_.note(*action);
      view.request(action->id);
    }
  }
}

/// The shown page's own keys take precedence, then those of the page on its stage, then the window's.
const Action* Session::actionFor(const InputEvent& event, bool typing) const {
  const KeyPress press{event.key, event.mods};
  // Clickers send a period to darken the screen; on the Model page a period generates.
  const bool clicker = services_.view.present && press == KeyPress{Key::period, {}} && !typing;
  if (clicker && !event.repeat && scene().cursor.page != "model") return &actions_.find("stage.blank");
  const std::string& page = own().scene().cursor.page;
  const Action* own = actions_.pressed(press, page, typing, event.repeat);
  if (!workspace_.onStage() || (own && own->page == page && !own->afterStage)) return own;
  const std::string& staged = scene().cursor.page;
  const Action* const theirs = actions_.pressed(press, staged, typing, event.repeat);
  return own && own->page == page && !(theirs && theirs->page == staged) ? own : theirs;
}

/// Tab moves the keyboard focus to the next control. Keys used by the focused control trigger no action.
bool Session::takenByControl(const InputEvent& event) {
  KeyboardFocus& focus = uiState().focus;
  const bool typing = ImGui::GetIO().WantTextInput;
  if (event.key == Key::tab && !event.mods.ctrl && !event.mods.alt) {
    if (typing) ImGui::ClearActiveID();
    focus.step(event.mods.shift ? -1 : 1);
    return true;
  }
  const TabStop* const control = focus.control();
  if (!control || typing || event.mods.ctrl || event.mods.alt) return false;
  switch (event.key) {
    case Key::enter:
    case Key::space:
      if (control->kind != TabStopKind::slider) focus.press(event.mods.shift ? 1 : 0);
      return true;
    case Key::left:
      return focus.move(-1, 0);
    case Key::right:
      return focus.move(1, 0);
    case Key::up:
      return focus.move(0, -1);
    case Key::down:
      return focus.move(0, 1);
    case Key::escape:
      if (services_.view.dialog ||
          ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
        return false;
      focus.release();
      return true;
    default:
      return false;
  }
}

}  // namespace headscope::app
