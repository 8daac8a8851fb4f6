#include "app/widgets/view.h"

#include <algorithm>

namespace headscope::app {

bool View::pressed(Key key, Mods mods) const {
  if (ImGui::GetIO().WantTextInput) return false;
  return std::any_of(input.events.begin(), input.events.end(), [&](const InputEvent& event) {
    return event.kind == InputEvent::Kind::key && event.down && event.key == key && event.mods == mods;
  });
}

}  // namespace headscope::app
