#include "app/platform/canvas.h"

#include <algorithm>

#include "app/platform/ui_state.h"

namespace headscope::app {

using compat::isPlace;

namespace {

/// ImGui's lines and circles pass through the centre of the given pixel.
constexpr float kMiddle = 0.5f;

FrameBox circleBox(ImVec2 center, float radius, float thickness) {
  return {ImRect(center.x - radius, center.y - radius, center.x + radius, center.y + radius), radius,
          thickness};
}

FrameFill filled(const ImVec2* points, int count) {
  return {{std::vector<ImVec2>(points, points + count)}};
}

}  // namespace

/// Draws, and records the shape if frames are recorded.
template <typename Draw, typename Describe>
void Canvas::drawn(ImU32 color, Draw draw, Describe describe) const {
  const int first = vertices();
  draw();
  if (FrameRecorder* const recorder = uiState().recorder)
    if (vertices() > first) recorder->add(*list_, first, describe(), color);
}

void Canvas::align(int first, float anchor) const {
  if (FrameRecorder* const recorder = uiState().recorder) recorder->align(*list_, first, anchor);
}

void Canvas::turn(int first, ImVec2 from, ImVec2 to, float degrees) const {
  const float angle = degrees * 3.14159265f / 180;
  const float c = std::cos(angle), s = std::sin(angle);
  for (int i = first; i < vertices(); ++i) {
    ImVec2& p = list_->VtxBuffer[i].pos;
    const float x = p.x - from.x, y = p.y - from.y;
    p = ImVec2(to.x + c * x - s * y, to.y + s * x + c * y);
  }
  if (FrameRecorder* const recorder = uiState().recorder) recorder->turn(*list_, first, {from, to, degrees});
}

void Canvas::PushClipRect(ImVec2 from, ImVec2 to, bool inside) const {
  if (!isPlace(from) || !isPlace(to)) from = to = ImVec2(0, 0);
  list_->PushClipRect(from, to, inside);
}

void Canvas::AddLine(ImVec2 from, ImVec2 to, ImU32 color, float thickness) const {
  if (!isPlace(from) || !isPlace(to)) return;
  drawn(
      color, [&] { list_->AddLine(from, to, color, thickness); },
      [&] {
        return FrameLine{{ImVec2(from.x + kMiddle, from.y + kMiddle), ImVec2(to.x + kMiddle, to.y + kMiddle)},
                         thickness};
      });
}

void Canvas::AddRectFilled(ImVec2 from, ImVec2 to, ImU32 color, float rounding) const {
  if (!isPlace(from) || !isPlace(to)) return;
  drawn(
      color, [&] { list_->AddRectFilled(from, to, color, rounding); },
      [&] {
        return FrameBox{ImRect(from, to), rounding};
      });
}

void Canvas::AddRect(ImVec2 from, ImVec2 to, ImU32 color, float rounding, float thickness) const {
  if (!isPlace(from) || !isPlace(to)) return;
  drawn(
      color, [&] { compat::addRect(*list_, from, to, color, rounding, thickness); },
      [&] {
        return FrameBox{ImRect(from.x + kMiddle, from.y + kMiddle, to.x - kMiddle, to.y - kMiddle), rounding,
                        thickness};
      });
}

void Canvas::AddRectFilledMultiColor(ImVec2 from, ImVec2 to, ImU32 topLeft, ImU32 topRight, ImU32 bottomRight,
                                     ImU32 bottomLeft) const {
  if (!isPlace(from) || !isPlace(to)) return;
  drawn(
      topLeft, [&] { list_->AddRectFilledMultiColor(from, to, topLeft, topRight, bottomRight, bottomLeft); },
      [&] {
        return FrameBlend{ImRect(from, to), {topLeft, topRight, bottomRight, bottomLeft}};
      });
}

void Canvas::AddTriangleFilled(ImVec2 a, ImVec2 b, ImVec2 c, ImU32 color) const {
  if (!isPlace(a) || !isPlace(b) || !isPlace(c)) return;
  drawn(
      color, [&] { list_->AddTriangleFilled(a, b, c, color); },
      [&] {
        return FrameFill{{{a, b, c}}};
      });
}

void Canvas::AddCircle(ImVec2 center, float radius, ImU32 color, int segments, float thickness) const {
  if (!isPlace(center) || !isPlace(ImVec2(radius, radius))) return;
  drawn(
      color, [&] { list_->AddCircle(center, radius, color, segments, thickness); },
      [&] { return circleBox(center, radius - kMiddle, thickness); });
}

void Canvas::AddCircleFilled(ImVec2 center, float radius, ImU32 color, int segments) const {
  if (!isPlace(center) || !isPlace(ImVec2(radius, radius))) return;
  drawn(
      color, [&] { list_->AddCircleFilled(center, radius, color, segments); },
      [&] { return circleBox(center, radius, 0); });
}

void Canvas::AddPolyline(const ImVec2* points, int count, ImU32 color, int flags, float thickness) const {
  const auto part = [&](const ImVec2* from, const ImVec2* to, int closing) {
    drawn(
        color, [&] { list_->AddPolyline(from, static_cast<int>(to - from), color, closing, thickness); },
        [&] {
          FrameLine line{std::vector<ImVec2>(from, to), thickness};
          if (closing & ImDrawFlags_Closed) line.points.push_back(*from);
          return line;
        });
  };
  const ImVec2 *const end = points + count, *from = points;
  if (count > 0 && std::all_of(points, end, isPlace)) return part(points, end, flags);
  while (from != end) {
    const ImVec2* const to = std::find_if_not(from, end, isPlace);
    if (to - from > 1) part(from, to, ImDrawFlags_None);
    from = std::find_if(to, end, isPlace);
  }
}

void Canvas::AddConvexPolyFilled(const ImVec2* points, int count, ImU32 color) const {
  if (!std::all_of(points, points + count, isPlace)) return;
  drawn(
      color, [&] { list_->AddConvexPolyFilled(points, count, color); },
      [&] { return filled(points, count); });
}

void Canvas::AddImage(ImTextureID texture, ImVec2 from, ImVec2 to, ImVec2 uvFrom, ImVec2 uvTo,
                      ImU32 tint) const {
  if (isPlace(from) && isPlace(to)) list_->AddImage(texture, from, to, uvFrom, uvTo, tint);
}

void Canvas::AddText(ImFont* font, float size, ImVec2 at, ImU32 color, const char* begin, const char* end,
                     float wrap) const {
  if (!isPlace(at)) return;
  drawn(
      color, [&] { list_->AddText(font, size, at, color, begin, end, wrap); },
      [&] {
        return FrameText{font, end ? std::string(begin, end) : std::string(begin), at, wrap};
      });
}

bool drawsMark(Canvas list, const char* name, ImVec2 from, ImVec2 to) {
  UiState& state = uiState();
  if (state.watches) {
    const ImVec2 clipFrom = list.GetClipRectMin(), clipTo = list.GetClipRectMax();
    state.marks.push_back({name, ImRect(ImVec2(std::max(from.x, clipFrom.x), std::max(from.y, clipFrom.y)),
                                        ImVec2(std::min(to.x, clipTo.x), std::min(to.y, clipTo.y)))});
  }
  return !state.hidesMarks;
}

}  // namespace headscope::app
