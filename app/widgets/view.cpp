#include "app/widgets/view.h"

#include <algorithm>

namespace headscope::app {

std::optional<unsigned> ScenePictures::of(const std::shared_ptr<const Scene>& scene) {
  if (std::find(shown.begin(), shown.end(), scene) == shown.end()) shown.push_back(scene);
  const auto found = painted.find(scene);
  return found == painted.end() ? std::nullopt : std::optional(found->second);
}

std::shared_ptr<const Scene> ScenePictures::wanted() const {
  const auto missing =
      std::find_if(shown.begin(), shown.end(), [&](const auto& scene) { return !painted.contains(scene); });
  return missing == shown.end() ? nullptr : *missing;
}

bool View::takenBySlider(Key key) const {
  const bool arrow = key == Key::left || key == Key::right || key == Key::up || key == Key::down;
  // Some pages ask before their sliders are drawn.
  return arrow && controls.arrowsFrame >= ImGui::GetFrameCount() - 1;
}

bool View::pressed(Key key, Mods mods) const {
  if (ImGui::GetIO().WantTextInput || dialog || takenBySlider(key)) return false;
  if (controls.keyTakenFrame == ImGui::GetFrameCount()) return false;
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) return false;
  return std::any_of(input.events.begin(), input.events.end(), [&](const InputEvent& event) {
    return event.kind == InputEvent::Kind::key && event.down && event.key == key && event.mods == mods;
  });
}

void View::markAdjusted(std::string control) {
  std::erase_if(controls.adjusted, [&](const AdjustedControl& each) {
    return each.control == control || time - each.at > kAdjustedSeconds;
  });
  controls.adjusted.push_back({std::move(control), time});
}

bool View::wasAdjusted(std::string_view control) const {
  return std::any_of(controls.adjusted.begin(), controls.adjusted.end(), [&](const AdjustedControl& each) {
    return each.control == control && time - each.at < kAdjustedSeconds;
  });
}

}  // namespace headscope::app
