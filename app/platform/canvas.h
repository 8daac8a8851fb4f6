#pragma once

#include <array>
#include <optional>

#include "app/platform/imgui_compat.h"
#include "render/heatmap_layout.h"

namespace headscope::app {

/// A hash of everything added to it, in order.
class Fingerprint {
 public:
  explicit Fingerprint(std::uint64_t seed = 0) : value_(seed) {}
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15u;
    value_ ^= value_ >> 29;
  }
  /// Adds the bytes of numbers and enumerations, which have no padding.
  template <typename... Values>
  void addAll(const Values&... values) {
    (addBytes(&values, sizeof values), ...);
  }
  std::uint64_t value() const { return value_; }

 private:
  void addBytes(const void* bytes, std::size_t size);
  std::uint64_t value_;
};

/// The content of a draw callback. It can tell whether its pixels changed without drawing them.
class CallbackPart {
 public:
  virtual ~CallbackPart() = default;
  /// Draws the part inside the box, in framebuffer pixels.
  virtual void draw(const render::PixelBox& box) = 0;
  /// Calls `part` with each rectangle it draws in, and a number that changes whenever the picture there does.
  virtual void describe(const std::function<void(const ImRect&, std::uint64_t)>& part) const = 0;

  /// Dear ImGui's callback; the user data is a CallbackPart.
  static void callback(const ImDrawList* list, const ImDrawCmd* command);
};

/// The parts of the screen to redraw. Keeps a fingerprint, for each square of the frame, of all triangles
/// that touch it.
class Damage {
 public:
  struct Frame {
    int width = 0, height = 0;  ///< pixels
    std::array<float, 3> clear{};
    /// Returns a number that changes whenever existing texels change; nullopt if they may change at any time.
    std::function<std::optional<std::uint64_t>(ImTextureID)> textureVersion;
  };
  /// Returns disjoint boxes that contain all pixels in which this frame may differ from that of the previous
  /// call. Returns the whole frame on the first call or if the size changed.
  std::vector<render::PixelBox> compare(const ImDrawData& drawn, const Frame& frame);
  /// Marks the whole next frame as changed.
  void forget() { squares_.clear(); }

 private:
  int width_ = 0, height_ = 0;
  std::vector<std::uint64_t> squares_;  ///< row by row
  std::uint64_t changes_ = 0;           ///< a fresh number for each texture that can't be compared
};

/// Calls `render` with the commands of `drawn` cut to the boxes, so that nothing outside them is drawn.
void withinBoxes(ImDrawData& drawn, std::span<const render::PixelBox> boxes,
                 const std::function<void()>& render);

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

// A mark conveys something without words: a crosshair, a slider's knob, a frame around the selection. For
// tests, each is recorded when drawn, and can be left out to reveal its background.

/// The name of the mark that fades content at an edge where more can be scrolled into view.
inline constexpr const char* kFade = "fade";

/// Records the mark between two corners. Returns whether to draw it.
bool drawsMark(Canvas list, const char* name, ImVec2 from, ImVec2 to);

}  // namespace headscope::app
