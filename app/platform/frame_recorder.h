#pragma once

#include <array>
#include <map>
#include <optional>
#include <variant>

#include "app/platform/imgui_compat.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// The tokens that the cells of a picture, or words in a row, stand for, so that pen strokes on them move
/// with the tokens. The tokens must live as long as the frame.
struct TokenPlaces {
  const std::vector<attention::Token>*rows = nullptr, *columns = nullptr;  ///< null = not tokens
  ImRect first = {};                                                       ///< the first cell of the picture
};

// A recorded frame: lines, boxes and lines of text instead of triangles. Framebuffer pixels, y down.

/// A line through several points.
struct FrameLine {
  std::vector<ImVec2> points;
  float thickness = 1;
};
/// Filled polygons.
struct FrameFill {
  std::vector<std::vector<ImVec2>> rings;
};
/// A rectangle, outlined if `thickness` > 0, otherwise filled. A circle is a fully rounded rectangle.
struct FrameBox {
  ImRect area;
  float rounding = 0, thickness = 0;
};
/// A rectangle with a colour gradient between its corners: top left, top right, bottom right, bottom left.
struct FrameBlend {
  ImRect area;
  std::array<ImU32, 4> corners;
};
/// Lines of text, starting at their top left corner.
struct FrameText {
  ImFont* font = nullptr;
  std::string text;
  ImVec2 at;
  float wrap = 0;    ///< width at which Dear ImGui wraps the text; 0 = never
  float anchor = 0;  ///< the part of its width left of the point it is aligned to: 0, ½ or 1
};
/// The output of a draw callback, identified by its data.
struct FrameCallback {
  const void* data = nullptr;
};
using FrameShape = std::variant<FrameLine, FrameFill, FrameBox, FrameBlend, FrameText, FrameCallback>;

/// A clockwise rotation around `from`, which then moves to `to`.
struct FrameTurn {
  ImVec2 from, to;
  float degrees = 0;
};

struct FramePiece {
  FrameShape shape;
  ImU32 color = 0;
  ImRect clip;  ///< the visible part
  std::optional<FrameTurn> turn;
};

/// A recorder of what Canvas and the Typesetter draw, which returns it in visible order. Shapes that Dear
/// ImGui draws itself, such as window backgrounds and scroll bars, are recovered from its triangles.
class FrameRecorder {
 public:
  /// Call before each frame.
  void clear() { notes_.clear(); }
  /// Records a shape that the list drew as the vertices from `first` on.
  void add(const ImDrawList& list, int first, FrameShape shape, ImU32 color);
  /// Records that the texts the list drew from vertex `first` on are aligned by their left end, their middle
  /// or their right end (0, ½ or 1), which stays in place if another font makes them wider.
  void align(const ImDrawList& list, int first, float anchor);
  /// Records that everything the list drew from vertex `first` on is turned.
  void turn(const ImDrawList& list, int first, const FrameTurn& turn);
  /// Returns the visible pieces of the frame; later ones cover earlier ones.
  std::vector<FramePiece> pieces(const ImDrawData& drawn) const;

 private:
  struct Note {
    int first = 0, end = 0;  ///< vertices
    FramePiece piece;
  };
  class Walk;
  std::map<const ImDrawList*, std::vector<Note>> notes_;  ///< sorted by vertex
};

}  // namespace headscope::app
