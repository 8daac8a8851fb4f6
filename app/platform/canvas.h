#pragma once

#include "app/platform/damage.h"

namespace headscope::app {

/// What is drawn on: a list of Dear ImGui's, which takes every number for a place on the screen and indexes
/// tables with sizes. A figure drawn from computed numbers may be NaN, infinite or far outside every window:
/// what has such a corner isn't drawn. All drawing goes through here, where a FrameRecorder notes it; to be
/// passed by value.
class Canvas {
 public:
  Canvas(ImDrawList& list) : list_(&list) {}  // not explicit: every list of Dear ImGui is one to draw on
  operator ImDrawList&() const { return *list_; }

  /// Whether it lies over all windows.
  bool isForeground() const { return list_ == ImGui::GetForegroundDrawList(); }
  /// Where the next vertex goes.
  int vertices() const { return list_->VtxBuffer.Size; }
  /// Turns all that was drawn from that vertex on, clockwise about `from`, which comes to `to`.
  void turn(int first, ImVec2 from, ImVec2 to, float degrees) const;
  ImVec2 GetClipRectMin() const { return list_->GetClipRectMin(); }
  ImVec2 GetClipRectMax() const { return list_->GetClipRectMax(); }
  /// Where the rectangle is no place on a screen, all is clipped.
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
  /// Without the lines to and from a point that is no place on a screen.
  void AddPolyline(const ImVec2* points, int count, ImU32 color, int flags, float thickness) const;
  void AddConvexPolyFilled(const ImVec2* points, int count, ImU32 color) const;
  void AddText(ImFont* font, float size, ImVec2 at, ImU32 color, const char* begin, const char* end,
               float wrap = 0) const;
  /// The texture from corner to corner; `uvFrom` and `uvTo` are the parts of it that lie there.
  void AddImage(ImTextureID texture, ImVec2 from, ImVec2 to, ImVec2 uvFrom, ImVec2 uvTo,
                ImU32 tint = 0xFFFFFFFF) const;
  /// The part has to be there still when the frame is drawn.
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
