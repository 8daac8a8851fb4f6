#include "app/shell/view_fade.h"

#include <algorithm>
#include <array>

namespace headscope::app {

bool ViewFade::walks(const std::string& action) {
  constexpr std::array kWalks{"talk.next",   "talk.back",   "talk.space",   "talk.first", "talk.last",
                              "lesson.next", "lesson.back", "lesson.first", "lesson.last"};
  return std::find(kWalks.begin(), kWalks.end(), action) != kWalks.end();
}

void ViewFade::begin(int width, int height, double now, double seconds) {
  if (seconds < kMinSeconds) return stop();
  if (picture_.width() != width || picture_.height() != height) picture_ = render::Picture(width, height);
  picture_.copyBound(width, height);
  beganAt_ = now;
  seconds_ = seconds;
  readyAt_ = -1;
}

void ViewFade::draw(View& view, bool ready) {
  if (!active()) return;
  // The first frames still show the old view.
  const double waited = view.time - beganAt_;
  if (readyAt_ < 0 && ((ready && waited > 0.05) || waited > kMaxWaiting)) readyAt_ = view.time;
  const double gone = readyAt_ < 0 ? 0 : (view.time - readyAt_) / seconds_;
  if (gone >= 1) return stop();
  const auto t = static_cast<float>(gone);
  const float left = 1 - t * t * (3 - 2 * t);
  const Canvas list = *ImGui::GetForegroundDrawList();
  list.AddImage(compat::textureId(picture_.texture()), ImVec2(0, 0), ImGui::GetIO().DisplaySize, ImVec2(0, 1),
                ImVec2(1, 0), faded(0xFFFFFFFF, left));
  view.redraw(2);  // one is used up by this frame
}

}  // namespace headscope::app
