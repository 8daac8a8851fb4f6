#include "app/widgets/sink_bars.h"

#include <algorithm>
#include <cmath>

#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

constexpr float kGap = 6, kBar = 34, kSlimGap = 2, kSlimBar = 6;

}  // namespace

float sinkBarsRoom(const View& view) {
  return view.px(kGap + kBar);
}

float sinkBarsGap(const View& view) {
  return view.px(kSlimGap + kSlimBar);
}

void paintSinkBars(const View& view, Canvas list, const HeatTile& tile, Index rows,
                   const std::function<float(Index row)>& share, SinkBars size) {
  const bool slim = size == SinkBars::slim;
  const float from = tile.area.Max.x + view.px(slim ? kSlimGap : kGap),
              to = from + view.px(slim ? kSlimBar : kBar);
  const ImRect area(from, tile.area.Min.y, to, tile.area.Max.y);
  list.AddRectFilled(area.Min, area.Max, view.theme->raised);
  const Index first = std::max<Index>(0, static_cast<Index>(tile.row)),
              last = std::min(rows, static_cast<Index>(std::ceil(tile.row + tile.rows)));
  const Index step = std::max<Index>(1, static_cast<Index>(1 / std::max(tile.cellHeight(), 1e-3f)));
  for (Index row = first; row < last; row += step) {
    const float top = std::max(area.Min.y, tile.y(static_cast<float>(row))),
                bottom = std::min(area.Max.y, tile.y(static_cast<float>(row + step)));
    const float gap = bottom - top > view.px(8) ? view.px(1) : 0;
    list.AddRectFilled(ImVec2(from, top + gap),
                       ImVec2(from + (to - from) * std::clamp(share(row), 0.0f, 1.0f), bottom - gap),
                       view.theme->secondary);
  }
  if (!slim)
    paintText(list, view.fonts->small, ImVec2(area.GetCenter().x, area.Min.y - view.px(9)), view.theme->faint,
              "sink", Align::center);
  track(slim ? "sink." + std::to_string(tile.head) : "sink", area.Min, area.Max);
  if (!ImGui::IsWindowHovered() || !area.Contains(ImGui::GetIO().MousePos)) return;
  const auto row = static_cast<Index>(tile.row + (ImGui::GetIO().MousePos.y - tile.area.Min.y) /
                                                     std::max(tile.cellHeight(), 1e-3f));
  if (row >= first && row < last)
    tooltip(view, "The head's sink takes " + weightText(share(row)) + " of query " + std::to_string(row) +
                      "'s softmax; its keys share the rest.");
}

}  // namespace headscope::app
