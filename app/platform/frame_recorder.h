#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/platform/imgui_compat.h"

namespace headscope::app {

// A frame as it was drawn: lines, boxes and lines of text instead of triangles. Framebuffer pixels, y down.

/// A line through points.
struct FrameLine {
  std::vector<ImVec2> points;
  float thickness = 1;
};
/// The inside of polygons.
struct FrameFill {
  std::vector<std::vector<ImVec2>> rings;
};
/// A rectangle, filled, or outlined where `thickness` > 0. A circle is one that is all rounding.
struct FrameBox {
  ImRect area;
  float rounding = 0, thickness = 0;
};
/// A rectangle whose colours run from corner to corner: top left, top right, bottom right, bottom left.
struct FrameBlend {
  ImRect area;
  std::array<ImU32, 4> corners;
};
/// Lines of text from their top left corner.
struct FrameText {
  ImFont* font = nullptr;
  std::string text;
  ImVec2 at;
  float wrap = 0;  ///< the width at which Dear ImGui breaks them; 0 = never
};
/// What a draw callback draws, by its data.
struct FrameCallback {
  const void* data = nullptr;
};
using FrameShape = std::variant<FrameLine, FrameFill, FrameBox, FrameBlend, FrameText, FrameCallback>;

/// From where a shape was laid out to where it is: turned clockwise about `from`, which comes to `to`.
struct FrameTurn {
  ImVec2 from, to;
  float degrees = 0;
};

struct FramePiece {
  FrameShape shape;
  ImU32 color = 0;
  ImRect clip;  ///< what of it is seen
  std::optional<FrameTurn> turn;
};

/// Notes what is drawn through Canvas and the Typesetter, and puts it in the order in which it is seen. What
/// Dear ImGui draws by itself (the backgrounds of windows, scroll bars) is taken from its triangles.
class FrameRecorder {
 public:
  /// Before a frame.
  void clear() { notes_.clear(); }
  /// A shape that the list drew as the vertices from `first` on.
  void add(const ImDrawList& list, int first, FrameShape shape, ImU32 color);
  /// All that the list drew from that vertex on is turned.
  void turn(const ImDrawList& list, int first, const FrameTurn& turn);
  /// What of the frame is seen, later pieces over earlier ones.
  std::vector<FramePiece> pieces(const ImDrawData& drawn) const;

 private:
  struct Note {
    int first = 0, end = 0;  ///< vertices
    FramePiece piece;
  };
  class Walk;
  std::map<const ImDrawList*, std::vector<Note>> notes_;  ///< by vertex
};

}  // namespace headscope::app
