#include "app/platform/frame_recorder.h"

#include <algorithm>

namespace headscope::app {

void FrameRecorder::add(const ImDrawList& list, int first, FrameShape shape, ImU32 color) {
  if (list.VtxBuffer.Size > first)
    notes_[&list].push_back({first, list.VtxBuffer.Size, {std::move(shape), color, {}, {}}});
}

void FrameRecorder::align(const ImDrawList& list, int first, float anchor) {
  std::vector<Note>& notes = notes_[&list];
  for (auto note = notes.rbegin(); note != notes.rend() && note->first >= first; ++note)
    if (FrameText* const text = std::get_if<FrameText>(&note->piece.shape)) text->anchor = anchor;
}

void FrameRecorder::turn(const ImDrawList& list, int first, const FrameTurn& turn) {
  for (Note& note : notes_[&list])
    if (note.first >= first) note.piece.turn = turn;
}

/// Walks the commands of one list.
class FrameRecorder::Walk {
 public:
  Walk(const ImDrawList& list, const std::vector<Note>& notes, std::vector<FramePiece>& out)
      : list_(list), notes_(notes), seen_(notes.size()), out_(out) {}

  void run() {
    for (const ImDrawCmd& command : list_.CmdBuffer) {
      const ImRect clip(command.ClipRect);
      if (command.UserCallback) {
        if (command.UserCallbackData) out_.push_back({FrameCallback{command.UserCallbackData}, 0, clip, {}});
        continue;
      }
      for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) triangle(command, i, clip);
      finishFill();
    }
  }

 private:
  void triangle(const ImDrawCmd& command, unsigned at, const ImRect& clip) {
    std::array<int, 3> corners{};
    for (unsigned i = 0; i < 3; ++i)
      corners[i] =
          list_.IdxBuffer[static_cast<int>(command.IdxOffset + at + i)] + static_cast<int>(command.VtxOffset);
    const auto after = std::ranges::upper_bound(notes_, corners[0], {}, &Note::first);
    if (after == notes_.begin() || std::prev(after)->end <= corners[0]) return ownTriangle(corners, clip);
    const auto note = std::prev(after) - notes_.begin();
    if (seen_[static_cast<std::size_t>(note)]) return;
    seen_[static_cast<std::size_t>(note)] = true;
    finishFill();
    FramePiece piece = notes_[static_cast<std::size_t>(note)].piece;
    piece.clip = clip;
    out_.push_back(std::move(piece));
  }

  /// Adds one of Dear ImGui's own triangles. Skips letters, and the seams that smooth edges.
  void ownTriangle(const std::array<int, 3>& corners, const ImRect& clip) {
    const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
    const ImU32 color = list_.VtxBuffer[corners[0]].col;
    if ((color & IM_COL32_A_MASK) == 0) return;
    if (isOfLine(list_.VtxBuffer[corners[0]])) return ownLine(corners, clip);
    std::vector<ImVec2> ring;
    for (const int corner : corners) {
      const ImDrawVert& vertex = list_.VtxBuffer[corner];
      if (vertex.uv.x != white.x || vertex.uv.y != white.y || vertex.col != color) return;
      ring.push_back(vertex.pos);
    }
    if (fill_ && fill_->color != color) finishFill();
    if (!fill_) fill_ = FramePiece{FrameFill{}, color, clip, {}};
    std::get<FrameFill>(fill_->shape).rings.push_back(std::move(ring));
  }

  /// Whether the vertex takes its colour from the atlas's smoothed lines.
  static bool isOfLine(const ImDrawVert& vertex) {
    const auto& lines = ImGui::GetIO().Fonts->TexUvLines;
    return std::ranges::any_of(lines,
                               [&](const ImVec4& line) { return line.y != 0 && line.y == vertex.uv.y; });
  }

  /// Recovers a line from the first of its segment's two triangles, whose corners are the left end, the left
  /// start and the right start. Smoothing widens the segment by a pixel on each side.
  void ownLine(const std::array<int, 3>& corners, const ImRect& clip) {
    const auto at = [&](int vertex) { return list_.VtxBuffer[vertex].pos; };
    if (corners[2] != corners[1] + 1 || corners[0] + 1 >= list_.VtxBuffer.Size) return;
    const ImVec2 left = at(corners[1]), right = at(corners[2]), endLeft = at(corners[0]),
                 endRight = at(corners[0] + 1);
    const ImVec2 along(endLeft.x - left.x, endLeft.y - left.y), across(right.x - left.x, right.y - left.y);
    const float length = std::hypot(along.x, along.y);
    if (length == 0) return;
    const float wide = std::abs(along.x * across.y - along.y * across.x) / length - 2;
    finishFill();
    const auto middle = [](ImVec2 a, ImVec2 b) { return ImVec2((a.x + b.x) / 2, (a.y + b.y) / 2); };
    out_.push_back({FrameLine{{middle(left, right), middle(endLeft, endRight)}, std::max(wide, 0.5f)},
                    list_.VtxBuffer[corners[0]].col,
                    clip,
                    {}});
  }

  void finishFill() {
    if (fill_) out_.push_back(*std::move(fill_));
    fill_.reset();
  }

  const ImDrawList& list_;
  const std::vector<Note>& notes_;
  std::vector<bool> seen_;
  std::vector<FramePiece>& out_;
  std::optional<FramePiece> fill_;  ///< consecutive triangles of one colour
};

std::vector<FramePiece> FrameRecorder::pieces(const ImDrawData& drawn) const {
  static const std::vector<Note> kNone;
  std::vector<FramePiece> out;
  for (int i = 0; i < drawn.CmdListsCount; ++i) {
    const ImDrawList& list = *drawn.CmdLists[i];
    const auto found = notes_.find(&list);
    Walk(list, found == notes_.end() ? kNone : found->second, out).run();
  }
  return out;
}

}  // namespace headscope::app
