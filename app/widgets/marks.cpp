#include "app/widgets/marks.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// On a light page colours are too dark to differ from white and from everything that white doesn't differ
/// from: a dark hairline round the white does.
bool hasHairline(const View& view) {
  return view.theme->light;
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
  const float rim = std::max(1.0f, view.px(1)), hairline = hasHairline(view) ? rim : 0;
  const ImRect middle = grown(box, thick / 2), seen = grown(box, thick + rim + hairline);
  if (!drawsMark(list, name, seen.Min, seen.Max)) return;
  if (hairline > 0)
    compat::rectOutline(list, middle.Min, middle.Max, view.theme->text, 0, thick + 2 * rim + 2 * hairline);
  compat::rectOutline(list, middle.Min, middle.Max, oppositeTone(view), 0, thick + 2 * rim);
  compat::rectOutline(list, middle.Min, middle.Max, color, 0, thick);
}

void paintSpot(const View& view, ImDrawList& list, const char* name, const ImRect& box, std::uint32_t color) {
  const float rim = std::max(1.0f, view.px(1));
  const ImRect middle = grown(box, rim), seen = grown(middle, hasHairline(view) ? rim : 0);
  if (!drawsMark(list, name, seen.Min, seen.Max)) return;
  if (hasHairline(view)) list.AddRectFilled(seen.Min, seen.Max, view.theme->text);
  list.AddRectFilled(middle.Min, middle.Max, oppositeTone(view));
  list.AddRectFilled(box.Min, box.Max, color);
}

}  // namespace headscope::app
