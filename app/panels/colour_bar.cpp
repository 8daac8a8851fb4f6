#include "app/panels/colour_bar.h"

#include <vector>

#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/track.h"

namespace headscope::app {

void paintColourBar(const View& view, render::Colormap colormap, const BarLabels& labels, ImVec2 right,
                    float width) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float barHeight = view.px(10), y = right.y - view.px(7);
  const ImVec2 from(right.x - width, y - barHeight / 2);
  constexpr int kSteps = 64;
  for (int i = 0; i < kSteps; ++i) {
    const float a = static_cast<float>(i) / kSteps, b = static_cast<float>(i + 1) / kSteps;
    const std::uint32_t left = packed(render::sample(colormap, a)),
                        rightColor = packed(render::sample(colormap, b));
    list.AddRectFilledMultiColor(ImVec2(from.x + a * width, from.y),
                                 ImVec2(from.x + b * width, from.y + barHeight), left, rightColor, rightColor,
                                 left);
  }
  ImFont* font = view.fonts->monoSmall;
  const float below = y + barHeight / 2 + view.px(8);
  paintText(list, font, ImVec2(from.x, below), view.theme->secondary, labels.low);
  if (width > view.px(120))
    paintText(list, font, ImVec2(from.x + width / 2, below), view.theme->secondary, labels.middle,
              Align::center);
  paintText(list, font, ImVec2(right.x, below), view.theme->secondary, labels.high, Align::right);
  track("colour_bar", from, right);
}

bool colormapChoice(View& view, render::Colormap& map) {
  std::vector<Choice> maps;
  for (render::Colormap each : render::kColormaps) {
    const std::string mapName(render::name(each));
    maps.push_back({mapName, "", mapName});
  }
  int chosen = static_cast<int>(map);
  if (!dropdown(view, "colormap", maps, chosen)) return false;
  map = static_cast<render::Colormap>(chosen);
  return true;
}

}  // namespace headscope::app
