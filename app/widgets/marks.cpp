#include "app/widgets/marks.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// A light page's colours are not dark enough: some tones of a map differ neither from them nor from the
/// white round them. A dark hairline outside does.
bool hasHairline(const View& view) {
  return view.theme->light;
}

/// White differs from it by more than 9 : 1, so that whatever lies below differs from one of them by 3 : 1.
std::uint32_t hairlineColor(const View& view) {
  return mixed(view.theme->text, view.theme->secondary, 0.6f);
}

std::uint32_t oppositeTone(const View& view) {
  return view.theme->light ? IM_COL32(255, 255, 255, 230) : IM_COL32(0, 0, 0, 230);
}

ImRect grown(ImRect box, float by) {
  box.Expand(by);
  return box;
}

}  // namespace

void paintMark(const View& view, ImDrawList& list, const char* name, const ImRect& box, std::uint32_t color,
               float thick) {
  if (thick <= 0) thick = std::max(1.5f, view.px(1.6f));
  const float rim = std::max(1.0f, view.px(1)), hairline = hasHairline(view) ? std::floor(rim) : 0;
  const ImRect middle = grown(box, thick / 2), outer = grown(box, thick + rim);
  // On whole pixels, so that it is sharp, and outside alone: the cells inside stay as they are.
  const ImVec2 from(std::floor(outer.Min.x) - hairline, std::floor(outer.Min.y) - hairline),
      to(std::ceil(outer.Max.x) + hairline, std::ceil(outer.Max.y) + hairline);
  if (!drawsMark(list, name, from, to)) return;
  if (hairline > 0) compat::rectOutline(list, from, to, hairlineColor(view), 0, hairline);
  compat::rectOutline(list, middle.Min, middle.Max, oppositeTone(view), 0, thick + 2 * rim);
  compat::rectOutline(list, middle.Min, middle.Max, color, 0, thick);
}

void paintSpot(const View& view, ImDrawList& list, const char* name, const ImRect& box, std::uint32_t color) {
  const float rim = std::max(1.0f, view.px(1));
  const ImRect middle = grown(box, rim), seen = grown(middle, hasHairline(view) ? rim : 0);
  if (!drawsMark(list, name, seen.Min, seen.Max)) return;
  if (hasHairline(view)) list.AddRectFilled(seen.Min, seen.Max, hairlineColor(view));
  list.AddRectFilled(middle.Min, middle.Max, oppositeTone(view));
  list.AddRectFilled(box.Min, box.Max, color);
}

}  // namespace headscope::app
