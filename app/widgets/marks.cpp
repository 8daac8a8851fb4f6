#include "app/widgets/marks.h"

#include <algorithm>

namespace headscope::app {

namespace {

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
  const float rim = std::max(1.0f, view.px(1));
  const ImRect middle = grown(box, thick / 2), seen = grown(box, thick + rim);
  if (!drawsMark(list, name, seen.Min, seen.Max)) return;
  compat::rectOutline(list, middle.Min, middle.Max, oppositeTone(view), 0, thick + 2 * rim);
  compat::rectOutline(list, middle.Min, middle.Max, color, 0, thick);
}

void paintSpot(const View& view, ImDrawList& list, const char* name, const ImRect& box, std::uint32_t color) {
  const ImRect seen = grown(box, std::max(1.0f, view.px(1)));
  if (!drawsMark(list, name, seen.Min, seen.Max)) return;
  list.AddRectFilled(seen.Min, seen.Max, oppositeTone(view));
  list.AddRectFilled(box.Min, box.Max, color);
}

}  // namespace headscope::app
