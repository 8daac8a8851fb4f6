#include "app/labs/lab/point_names.h"

#include <algorithm>

#include "app/widgets/paint.h"

namespace headscope::app {

void PointNames::keepClear(ImVec2 at, float radius) {
  taken_.emplace_back(at.x - radius, at.y - radius, at.x + radius, at.y + radius);
}

bool PointNames::paint(ImVec2 at, float radius, const std::string& name, std::uint32_t color) {
  ImFont* font = view_.fonts->mono;
  const float width = textWidth(font, name), high = lineHeight(font), half = high / 2;
  const float aside = radius + view_.px(5), away = half + radius + view_.px(4);
  const float right = at.x + aside, left = at.x - aside - width, middle = at.x - width / 2;
  for (const ImVec2 place :
       {ImVec2(right, at.y), ImVec2(left, at.y), ImVec2(middle, at.y - away), ImVec2(middle, at.y + away),
        ImVec2(right, at.y - half), ImVec2(right, at.y + half), ImVec2(left, at.y - half),
        ImVec2(left, at.y + half)}) {
    const ImRect box(place.x, place.y - half, place.x + width, place.y + half);
    const bool free =
        std::none_of(taken_.begin(), taken_.end(), [&](const ImRect& other) { return other.Overlaps(box); });
    if (!free || !area_.Contains(box)) continue;
    paintText(*ImGui::GetWindowDrawList(), font, place, color, name);
    taken_.push_back(box);
    return true;
  }
  return false;
}

}  // namespace headscope::app
