#include "app/platform/canvas.h"

#include <algorithm>

namespace headscope::app {

using compat::isPlace;

void Canvas::PushClipRect(ImVec2 from, ImVec2 to, bool inside) const {
  if (!isPlace(from) || !isPlace(to)) from = to = ImVec2(0, 0);
  list_->PushClipRect(from, to, inside);
}

void Canvas::AddLine(ImVec2 from, ImVec2 to, ImU32 color, float thickness) const {
  if (isPlace(from) && isPlace(to)) list_->AddLine(from, to, color, thickness);
}

void Canvas::AddRectFilled(ImVec2 from, ImVec2 to, ImU32 color, float rounding, int corners) const {
  if (isPlace(from) && isPlace(to)) list_->AddRectFilled(from, to, color, rounding, corners);
}

void Canvas::AddRectFilledMultiColor(ImVec2 from, ImVec2 to, ImU32 topLeft, ImU32 topRight, ImU32 bottomRight,
                                     ImU32 bottomLeft) const {
  if (isPlace(from) && isPlace(to))
    list_->AddRectFilledMultiColor(from, to, topLeft, topRight, bottomRight, bottomLeft);
}

void Canvas::AddTriangleFilled(ImVec2 a, ImVec2 b, ImVec2 c, ImU32 color) const {
  if (isPlace(a) && isPlace(b) && isPlace(c)) list_->AddTriangleFilled(a, b, c, color);
}

void Canvas::AddCircle(ImVec2 center, float radius, ImU32 color, int segments, float thickness) const {
  if (isPlace(center) && isPlace(ImVec2(radius, radius)))
    list_->AddCircle(center, radius, color, segments, thickness);
}

void Canvas::AddCircleFilled(ImVec2 center, float radius, ImU32 color, int segments) const {
  if (isPlace(center) && isPlace(ImVec2(radius, radius)))
    list_->AddCircleFilled(center, radius, color, segments);
}

void Canvas::AddPolyline(const ImVec2* points, int count, ImU32 color, int flags, float thickness) const {
  const ImVec2 *const end = points + count, *from = points;
  if (std::all_of(points, end, isPlace)) return list_->AddPolyline(points, count, color, flags, thickness);
  while (from != end) {
    const ImVec2* const to = std::find_if_not(from, end, isPlace);
    if (to - from > 1)
      list_->AddPolyline(from, static_cast<int>(to - from), color, ImDrawFlags_None, thickness);
    from = std::find_if(to, end, isPlace);
  }
}

void Canvas::AddConvexPolyFilled(const ImVec2* points, int count, ImU32 color) const {
  if (std::all_of(points, points + count, isPlace)) list_->AddConvexPolyFilled(points, count, color);
}

void Canvas::AddImage(ImTextureID texture, ImVec2 from, ImVec2 to, ImVec2 uvFrom, ImVec2 uvTo,
                      ImU32 tint) const {
  if (isPlace(from) && isPlace(to)) list_->AddImage(texture, from, to, uvFrom, uvTo, tint);
}

void Canvas::AddText(ImFont* font, float size, ImVec2 at, ImU32 color, const char* begin, const char* end,
                     float wrap) const {
  if (isPlace(at)) list_->AddText(font, size, at, color, begin, end, wrap);
}

}  // namespace headscope::app
