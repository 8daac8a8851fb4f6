#include "app/widgets/colour_bar.h"

#include "app/platform/track.h"
#include "app/widgets/paint.h"

namespace headscope::app {

void paintRamp(Canvas list, render::Colormap colormap, ImVec2 from, ImVec2 to) {
  constexpr int kSteps = 64;
  const bool upwards = to.y < from.y;
  const float step = (upwards ? to.y - from.y : to.x - from.x) / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const std::uint32_t low = packed(render::sample(colormap, static_cast<float>(i) / kSteps)),
                        high = packed(render::sample(colormap, static_cast<float>(i + 1) / kSteps));
    const float at = (upwards ? from.y : from.x) + step * static_cast<float>(i);
    if (upwards)
      list.AddRectFilledMultiColor(ImVec2(from.x, at + step), ImVec2(to.x, at), high, high, low, low);
    else
      list.AddRectFilledMultiColor(ImVec2(at, from.y), ImVec2(at + step, to.y), low, high, high, low);
  }
}

void paintColourBar(const View& view, render::Colormap colormap, const BarLabels& labels, ImVec2 right,
                    float width) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float barHeight = view.px(10), y = right.y - view.px(7);
  const ImVec2 from(right.x - width, y - barHeight / 2);
  paintRamp(list, colormap, from, ImVec2(right.x, from.y + barHeight));
  ImFont* font = view.fonts->monoSmall;
  const float below = y + barHeight / 2 + view.px(8);
  paintText(list, font, ImVec2(from.x, below), view.theme->secondary, labels.low);
  if (width > view.px(120))
    paintText(list, font, ImVec2(from.x + width / 2, below), view.theme->secondary, labels.middle,
              Align::center);
  paintText(list, font, ImVec2(right.x, below), view.theme->secondary, labels.high, Align::right);
  track("colour_bar", from, right);
}

}  // namespace headscope::app
