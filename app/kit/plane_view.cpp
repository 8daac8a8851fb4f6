#include "app/kit/plane_view.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/paint.h"

namespace headscope::app {

PlaneView planeAround(const ImRect& area, const attention::Matrix& points, float& extent, bool held) {
  // The longer side shows more.
  const float wide = area.GetWidth() / 2, high = area.GetHeight() / 2, least = std::min(wide, high);
  float needed = 0;
  for (attention::Index i = 0; i < points.rows(); ++i)
    needed = std::max({needed, std::abs(points(i, 0)) * least / wide, std::abs(points(i, 1)) * least / high});
  if (!(needed > 0) || !std::isfinite(needed)) needed = 1;
  const bool fits = extent >= needed * 1.05f && extent <= needed * 2.5f;
  if (extent <= 0 || (!fits && !held)) extent = needed * 1.25f;
  return {area, least / extent};
}

attention::Index pointUnder(const PlaneView& plane, const attention::Matrix& points, ImVec2 mouse,
                            float reach) {
  attention::Index nearest = -1;
  float best = reach * reach;
  for (attention::Index i = 0; i < points.rows(); ++i) {
    const ImVec2 at = plane.pixel(points(i, 0), points(i, 1));
    const float away = (at.x - mouse.x) * (at.x - mouse.x) + (at.y - mouse.y) * (at.y - mouse.y);
    if (away < best) {
      best = away;
      nearest = i;
    }
  }
  return nearest;
}

void PointNames::paintAxes(const std::string& first, const std::string& second) {
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* font = view_.fonts->small;
  const float half = lineHeight(font) / 2;
  const ImVec2 below(area_.Max.x - view_.px(10), area_.Max.y - view_.px(12));
  const ImVec2 above(area_.Min.x + view_.px(10), area_.Min.y + view_.px(13));
  const float wide = paintText(list, font, below, view_.theme->secondary, first + " →", Align::right);
  taken_.emplace_back(below.x - wide, below.y - half, below.x, below.y + half);
  const float used = paintText(list, font, above, view_.theme->secondary, "↑ " + second);
  taken_.emplace_back(above.x, above.y - half, above.x + used, above.y + half);
}

void PointNames::keepClear(ImVec2 at, float radius) {
  taken_.emplace_back(at.x - radius, at.y - radius, at.x + radius, at.y + radius);
}

void PointNames::keepOff(ImVec2 from, ImVec2 to) {
  lines_.emplace_back(from, to);
}

/// A line crosses a box if their extents overlap and the box's corners aren't all on one side of the line.
bool PointNames::onLine(const ImRect& box) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const auto& line) {
    const auto [a, b] = line;
    const ImRect extent(std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y));
    if (extent.Min.x > box.Max.x || extent.Max.x < box.Min.x || extent.Min.y > box.Max.y ||
        extent.Max.y < box.Min.y)
      return false;
    int left = 0;
    for (const ImVec2 corner : {box.GetTL(), box.GetTR(), box.GetBL(), box.GetBR()})
      left += (b.x - a.x) * (corner.y - a.y) - (b.y - a.y) * (corner.x - a.x) > 0 ? 1 : 0;
    return left > 0 && left < 4;
  });
}

void PointNames::keepOffDisc(ImVec2 center, float radius) {
  discs_.emplace_back(center, radius);
}

bool PointNames::onDisc(const ImRect& box) const {
  return std::any_of(discs_.begin(), discs_.end(), [&](const auto& disc) {
    const auto [center, radius] = disc;
    return std::hypot(center.x - std::clamp(center.x, box.Min.x, box.Max.x),
                      center.y - std::clamp(center.y, box.Min.y, box.Max.y)) < radius;
  });
}

bool PointNames::paint(ImVec2 at, float radius, const std::string& name, std::uint32_t color) {
  ImFont* font = view_.fonts->mono;
  const float width = textWidth(font, name), high = lineHeight(font), half = high / 2;
  std::vector<ImVec2> places;
  const auto addPlaces = [&](float further) {
    const float aside = radius + further + view_.px(5), away = half + radius + further + view_.px(4);
    const float right = at.x + aside, left = at.x - aside - width, middle = at.x - width / 2;
    for (const ImVec2 place :
         {ImVec2(right, at.y), ImVec2(left, at.y), ImVec2(middle, at.y - away), ImVec2(middle, at.y + away),
          ImVec2(right, at.y - away), ImVec2(right, at.y + away), ImVec2(left, at.y - away),
          ImVec2(left, at.y + away)})
      places.push_back(place);
  };
  const auto boxAt = [&](ImVec2 place) {
    return ImRect(place.x, place.y - half, place.x + width, place.y + half);
  };
  const auto free = [&](ImVec2 place) {
    const ImRect box = boxAt(place);
    return area_.Contains(box) && std::none_of(taken_.begin(), taken_.end(),
                                               [&](const ImRect& other) { return other.Overlaps(box); });
  };
  addPlaces(0);
  const std::size_t near = places.size();
  // Where points are dense, a name stands further away, on a line to its point.
  for (const float further : {1.5f, 3.0f}) addPlaces(further * high);
  auto place = std::ranges::find_if(
      places, [&](ImVec2 each) { return free(each) && !onLine(boxAt(each)) && !onDisc(boxAt(each)); });
  if (place == places.end()) place = std::ranges::find_if(places, free);
  if (place == places.end()) return false;
  const ImRect box = boxAt(*place);
  if (static_cast<std::size_t>(place - places.begin()) >= near)
    Canvas(*ImGui::GetWindowDrawList())
        .AddLine(at, ImVec2(std::clamp(at.x, box.Min.x, box.Max.x), std::clamp(at.y, box.Min.y, box.Max.y)),
                 view_.theme->line, std::max(1.0f, view_.px(1)));
  paintText(*ImGui::GetWindowDrawList(), font, *place, color, name);
  taken_.push_back(boxAt(*place));
  return true;
}

}  // namespace headscope::app
