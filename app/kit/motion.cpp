#include "app/kit/motion.h"

namespace headscope::app {

namespace {

/// Whether what changed in this frame is something to follow with the eyes.
bool isDiscrete(const View& view) {
  const bool fades = view.time - view.walkedAt < view.walkSeconds;  // the whole view fades already
  return !view.preferences.reducedMotion && !fades && !view.figure && !ImGui::IsMouseDown(0);
}

ImVec2 between(ImVec2 from, ImVec2 to, float share) {
  return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
}

bool same(const ImRect& a, const ImRect& b) {
  return a.Min.x == b.Min.x && a.Min.y == b.Min.y && a.Max.x == b.Max.x && a.Max.y == b.Max.y;
}

}  // namespace

ImRect Motion::place(View& view, const std::string& name, const ImRect& target) {
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  if (window.x != window_.x || window.y != window_.y) elements_.clear();
  window_ = window;
  const int frame = ImGui::GetFrameCount();
  Element& element = elements_[name];
  const bool stood = frame - std::exchange(element.frame, frame) <= 1;
  if (!stood || !same(element.to, target)) {
    const bool starts = stood && isDiscrete(view);
    element.from = starts ? element.drawn : target;
    element.to = target;
    element.since = starts ? view.time : view.time - kSeconds;
  }
  const auto passed = static_cast<float>((view.time - element.since) / kSeconds);
  if (passed >= 1) return element.drawn = target;
  view.redraw(2);
  const float rest = 1 - std::max(passed, 0.0f), share = 1 - rest * rest * rest;
  return element.drawn = {between(element.from.Min, target.Min, share),
                          between(element.from.Max, target.Max, share)};
}

bool Motion::moves(const View& view, const std::string& name) const {
  const auto element = elements_.find(name);
  return element != elements_.end() && view.time - element->second.since < kSeconds;
}

}  // namespace headscope::app
