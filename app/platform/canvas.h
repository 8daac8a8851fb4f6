#pragma once

#include "app/platform/damage.h"

namespace headscope::app {

/// A safe wrapper of Dear ImGui's draw list, which would accept any coordinates and index tables with sizes.
/// A figure drawn from computed numbers may be NaN, infinite or far off screen; shapes with such a corner are
/// skipped. All drawing goes through this class, where a FrameRecorder records it. Pass it by value.
class Canvas {
 public:
  Canvas(ImDrawList& list) : list_(&list) {}  // implicit: any of Dear ImGui's lists is a canvas
  operator ImDrawList&() const { return *list_; }

  /// Whether this is the list drawn over all windows.
  bool isForeground() const { return list_ == ImGui::GetForegroundDrawList(); }
  /// The index of the next vertex.
  int vertices() const { return list_->VtxBuffer.Size; }
  /// Notes how the texts drawn from vertex `first` on are aligned: by their left end, middle or right end (0,
  /// ½ or 1).
  void align(int first, float anchor) const;
  /// Rotates everything drawn from vertex `first` on clockwise around `from`, and moves `from` to `to`.
  void turn(int first, ImVec2 from, ImVec2 to, float degrees) const;
  ImVec2 GetClipRectMin() const { return list_->GetClipRectMin(); }
  ImVec2 GetClipRectMax() const { return list_->GetClipRectMax(); }
  /// Clips everything if the rectangle isn't a valid place.
  void PushClipRect(ImVec2 from, ImVec2 to, bool inside = false) const;
  void PopClipRect() const { list_->PopClipRect(); }

  void AddLine(ImVec2 from, ImVec2 to, ImU32 color, float thickness = 1) const;
  void AddRectFilled(ImVec2 from, ImVec2 to, ImU32 color, float rounding = 0) const;
  void AddRect(ImVec2 from, ImVec2 to, ImU32 color, float rounding, float thickness) const;
  void AddRectFilledMultiColor(ImVec2 from, ImVec2 to, ImU32 topLeft, ImU32 topRight, ImU32 bottomRight,
                               ImU32 bottomLeft) const;
  void AddTriangleFilled(ImVec2 a, ImVec2 b, ImVec2 c, ImU32 color) const;
  void AddCircle(ImVec2 center, float radius, ImU32 color, int segments = 0, float thickness = 1) const;
  void AddCircleFilled(ImVec2 center, float radius, ImU32 color, int segments = 0) const;
  /// Leaves out the segments to and from invalid points.
  void AddPolyline(const ImVec2* points, int count, ImU32 color, int flags, float thickness) const;
  void AddConvexPolyFilled(const ImVec2* points, int count, ImU32 color) const;
  void AddText(ImFont* font, float size, ImVec2 at, ImU32 color, const char* begin, const char* end,
               float wrap = 0) const;
  /// Draws the part [uvFrom, uvTo] of the texture from corner to corner.
  void AddImage(ImTextureID texture, ImVec2 from, ImVec2 to, ImVec2 uvFrom, ImVec2 uvTo,
                ImU32 tint = 0xFFFFFFFF) const;
  /// The part must still exist when the frame is rendered.
  void AddCallback(CallbackPart& part) const {
    list_->AddCallback(CallbackPart::callback, &part);
    compat::addResetRenderState(*list_);
  }

 private:
  template <typename Draw, typename Describe>
  void drawn(ImU32 color, Draw draw, Describe describe) const;
  ImDrawList* list_;
};

namespace compat {
/// An outlined rectangle.
inline void rectOutline(Canvas list, ImVec2 from, ImVec2 to, ImU32 color, float rounding, float thickness) {
  list.AddRect(from, to, color, rounding, thickness);
}
}  // namespace compat

}  // namespace headscope::app
