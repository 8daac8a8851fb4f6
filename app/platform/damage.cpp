#include <algorithm>
#include <cstring>
#include <utility>

#include "app/platform/canvas.h"

namespace headscope::app {

using render::PixelBox;

namespace {

constexpr int kSquare = 16;  ///< pixels per side
constexpr std::size_t kMaxBoxes = 48;
/// What the commands of one more box cost, in pixels drawn by a software rasteriser.
constexpr long kBoxCost = 4096;

int squaresIn(int pixels) {
  return (pixels + kSquare - 1) / kSquare;
}

PixelBox intersect(const PixelBox& a, const PixelBox& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

/// Returns the clip box that Dear ImGui's renderer uses: it truncates the corner and the size, with y counted
/// from the bottom.
PixelBox scissorOf(const ImDrawCmd& command, int height) {
  const ImVec4& clip = command.ClipRect;
  const int x0 = static_cast<int>(clip.x), bottom = static_cast<int>(static_cast<float>(height) - clip.w);
  const int y1 = height - bottom;
  return {x0, y1 - static_cast<int>(clip.w - clip.y), x0 + static_cast<int>(clip.z - clip.x), y1};
}

/// One triangle of a draw command, or the two of a rectangle or letter, which are compared and cut together.
struct Shape {
  const ImDrawIdx* indices;
  unsigned count;  ///< of indices
  ImRect bounds;

  /// The shape at the first of `left` indices.
  Shape(const ImDrawVert* vertices, const ImDrawIdx* from, unsigned left)
      : indices(from),
        count(left >= 6 && from[3] == from[0] && from[4] == from[2] ? 6 : 3),
        bounds(vertices[from[0]].pos, vertices[from[0]].pos) {
    bounds.Add(vertices[from[1]].pos);
    bounds.Add(vertices[from[2]].pos);
    if (count == 6) bounds.Add(vertices[from[5]].pos);
  }
};

/// The fingerprints of one frame.
class Squares {
 public:
  Squares(int width, int height, std::uint64_t seed)
      : width_(width),
        height_(height),
        columns_(squaresIn(width)),
        values_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(squaresIn(height)), seed) {}

  /// Mixes the word into every square that the rectangle touches inside the box.
  void add(const ImRect& area, const PixelBox& box, std::uint64_t word) {
    const auto cut = [](float at, int from, int to) {
      return std::clamp(at, static_cast<float>(from), static_cast<float>(to));
    };
    const int left = std::max(box.x0, 0), right = std::min(box.x1, width_), top = std::max(box.y0, 0),
              bottom = std::min(box.y1, height_);
    if (left >= right || top >= bottom) return;
    const int x0 = static_cast<int>(cut(area.Min.x, left, right)) / kSquare,
              y0 = static_cast<int>(cut(area.Min.y, top, bottom)) / kSquare,
              x1 = squaresIn(static_cast<int>(std::ceil(cut(area.Max.x, left, right)))),
              y1 = squaresIn(static_cast<int>(std::ceil(cut(area.Max.y, top, bottom))));
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) {
        Fingerprint print(values_[static_cast<std::size_t>(y * columns_ + x)]);
        print.add(word);
        values_[static_cast<std::size_t>(y * columns_ + x)] = print.value();
      }
  }
  std::vector<std::uint64_t> take() { return std::move(values_); }

 private:
  int width_, height_, columns_;
  std::vector<std::uint64_t> values_;
};

void addTriangles(const ImDrawList& list, const ImDrawCmd& command, std::uint64_t state,
                  const PixelBox& scissor, const std::vector<std::uint64_t>& prints, Squares& squares) {
  const ImDrawVert* const vertices = list.VtxBuffer.Data + command.VtxOffset;
  const std::uint64_t* const printed = prints.data() + command.VtxOffset;
  const ImDrawIdx* const indices = list.IdxBuffer.Data + command.IdxOffset;
  for (unsigned at = 0; at + 2 < command.ElemCount;) {
    const Shape shape(vertices, indices + at, command.ElemCount - at);
    Fingerprint print(state);
    for (unsigned corner = 0; corner < 3; ++corner) print.add(printed[shape.indices[corner]]);
    if (shape.count == 6) print.add(printed[shape.indices[5]]);
    squares.add(shape.bounds, scissor, print.value());
    at += shape.count;
  }
}

std::vector<std::uint64_t> vertexPrints(const ImDrawList& list) {
  std::vector<std::uint64_t> prints;
  prints.reserve(static_cast<std::size_t>(list.VtxBuffer.Size));
  for (const ImDrawVert& vertex : list.VtxBuffer) {
    Fingerprint print;
    print.addAll(vertex.pos, vertex.uv, vertex.col);
    prints.push_back(print.value());
  }
  return prints;
}

/// Returns the changed squares as boxes: runs along a row, joined with equal runs below.
std::vector<PixelBox> differingBoxes(const std::vector<std::uint64_t>& before,
                                     const std::vector<std::uint64_t>& now, int width, int height) {
  const int columns = squaresIn(width), rows = squaresIn(height);
  std::vector<PixelBox> boxes;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      const auto differs = [&](int column) {
        const auto at = static_cast<std::size_t>(y * columns + column);
        return before[at] != now[at];
      };
      if (!differs(x)) continue;
      const int first = x;
      while (x < columns && differs(x)) ++x;
      PixelBox box{first * kSquare, y * kSquare, std::min(x * kSquare, width),
                   std::min((y + 1) * kSquare, height)};
      const auto above = std::ranges::find_if(boxes, [&](const PixelBox& each) {
        return each.x0 == box.x0 && each.x1 == box.x1 && each.y1 == box.y0;
      });
      if (above == boxes.end())
        boxes.push_back(box);
      else
        above->y1 = box.y1;
    }
  return boxes;
}

PixelBox around(const PixelBox& a, const PixelBox& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

long areaOf(const PixelBox& box) {
  return box.empty() ? 0 : long{box.x1 - box.x0} * (box.y1 - box.y0);
}

/// Merges boxes that overlap or are cheaper to draw as one, and then others until at most kMaxBoxes remain,
/// at the cost of the fewest extra pixels.
void merge(std::vector<PixelBox>& boxes) {
  constexpr std::size_t kMaxCompared = 64;  // pairs of more take longer to compare than to draw
  while (boxes.size() > kMaxCompared) {
    boxes[boxes.size() - 2] = around(boxes[boxes.size() - 2], boxes.back());
    boxes.pop_back();
  }
  while (true) {
    std::size_t first = 0, second = 0;
    long least = boxes.size() > kMaxBoxes ? std::numeric_limits<long>::max() : kBoxCost;
    for (std::size_t i = 0; i < boxes.size(); ++i)
      for (std::size_t j = i + 1; j < boxes.size(); ++j) {
        const bool overlap = !intersect(boxes[i], boxes[j]).empty();
        const long more =
            overlap ? -1 : areaOf(around(boxes[i], boxes[j])) - areaOf(boxes[i]) - areaOf(boxes[j]);
        if (more < least) {
          least = more;
          first = i;
          second = j;
        }
      }
    if (first == second) return;
    boxes[first] = around(boxes[first], boxes[second]);
    boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(second));
  }
}

ImRect rectOf(const PixelBox& box) {
  return {static_cast<float>(box.x0), static_cast<float>(box.y0), static_cast<float>(box.x1),
          static_cast<float>(box.y1)};
}

/// Finds the boxes that a rectangle touches, square by square if it is small.
class BoxFinder {
 public:
  BoxFinder(std::span<const PixelBox> boxes, int width, int height)
      : boxes_(boxes),
        columns_(squaresIn(width)),
        rows_(squaresIn(height)),
        at_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_), -1) {
    for (std::size_t i = 0; i < boxes.size(); ++i)
      for (int y = boxes[i].y0 / kSquare; y < squaresIn(boxes[i].y1); ++y)
        for (int x = boxes[i].x0 / kSquare; x < squaresIn(boxes[i].x1); ++x)
          at_[static_cast<std::size_t>(y * columns_ + x)] = static_cast<int>(i);
  }

  template <typename Take>
  void find(const ImRect& area, Take take) const {
    static constexpr float kFar = 1e6f;  // anything farther falls into the same squares
    const auto square = [](float at, int count) {
      return std::clamp(static_cast<int>(std::clamp(at, 0.0f, kFar)) / kSquare, 0, count - 1);
    };
    const int x0 = square(area.Min.x, columns_), x1 = square(area.Max.x, columns_),
              y0 = square(area.Min.y, rows_), y1 = square(area.Max.y, rows_);
    constexpr int kSmall = 4;
    if ((x1 - x0 + 1) * (y1 - y0 + 1) > kSmall) {
      for (std::size_t i = 0; i < boxes_.size(); ++i)
        if (rectOf(boxes_[i]).Overlaps(area)) take(i);
      return;
    }
    int taken[kSmall], count = 0;
    for (int y = y0; y <= y1; ++y)
      for (int x = x0; x <= x1; ++x) {
        const int box = at_[static_cast<std::size_t>(y * columns_ + x)];
        if (box < 0 || std::find(taken, taken + count, box) != taken + count) continue;
        taken[count++] = box;
        if (rectOf(boxes_[static_cast<std::size_t>(box)]).Overlaps(area)) take(static_cast<std::size_t>(box));
      }
  }

 private:
  std::span<const PixelBox> boxes_;
  int columns_, rows_;
  std::vector<int> at_;  ///< for each square, the box that covers it, or −1
};

/// A command list cut to boxes. The destructor restores the original list.
class CutList {
 public:
  CutList(ImDrawList& list, std::span<const PixelBox> boxes, const BoxFinder& finder, int height)
      : list_(list), kept_(boxes.size()) {
    indices_.reserve(list.IdxBuffer.Size);
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback)
        addCallback(command, boxes);
      else
        addTriangles(command, boxes, finder, height);
    }
    // Vertices that nothing draws aren't uploaded either. One is: WebGL takes an upload of 0 bytes for one of
    // all the memory that follows.
    spared_ = indices_.empty();
    if (spared_) {
      vertices_.push_back({});
      indices_.push_back(0);
      list_.VtxBuffer.swap(vertices_);
    }
    list_.CmdBuffer.swap(commands_);
    list_.IdxBuffer.swap(indices_);
  }
  ~CutList() {
    list_.CmdBuffer.swap(commands_);
    list_.IdxBuffer.swap(indices_);
    if (spared_) list_.VtxBuffer.swap(vertices_);
  }
  CutList(const CutList&) = delete;
  CutList& operator=(const CutList&) = delete;

 private:
  void add(const ImDrawCmd& command, const PixelBox& box) {
    commands_.push_back(command);
    const ImRect clip = rectOf(box);
    commands_.back().ClipRect = ImVec4(clip.Min.x, clip.Min.y, clip.Max.x, clip.Max.y);
  }

  void addCallback(const ImDrawCmd& command, std::span<const PixelBox> boxes) {
    if (command.UserCallback != CallbackPart::callback) {  // resets the renderer's state
      if (!commands_.empty() && commands_.back().UserCallback) commands_.push_back(command);
      return;
    }
    ImVector<ImRect> areas;
    static_cast<const CallbackPart*>(command.UserCallbackData)
        ->describe([&](const ImRect& area, std::uint64_t) { areas.push_back(area); });
    for (const PixelBox& box : boxes)
      if (std::ranges::any_of(areas, [&](const ImRect& area) { return area.Overlaps(rectOf(box)); }))
        add(command, box);
  }

  void addTriangles(const ImDrawCmd& command, std::span<const PixelBox> boxes, const BoxFinder& finder,
                    int height) {
    const ImDrawVert* const vertices = list_.VtxBuffer.Data + command.VtxOffset;
    const ImDrawIdx* const from = list_.IdxBuffer.Data + command.IdxOffset;
    for (unsigned at = 0; at + 2 < command.ElemCount;) {
      const Shape shape(vertices, from + at, command.ElemCount - at);
      finder.find(shape.bounds, [&](std::size_t box) {
        kept_[box].insert(kept_[box].end(), shape.indices, shape.indices + shape.count);
      });
      at += shape.count;
    }
    const PixelBox scissor = scissorOf(command, height);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const PixelBox box = intersect(scissor, boxes[i]);
      if (!box.empty() && !kept_[i].empty()) {
        add(command, box);
        commands_.back().IdxOffset = static_cast<unsigned>(indices_.Size);
        commands_.back().ElemCount = static_cast<unsigned>(kept_[i].size());
        for (const ImDrawIdx index : kept_[i]) indices_.push_back(index);
      }
      kept_[i].clear();
    }
  }

  ImDrawList& list_;
  ImVector<ImDrawCmd> commands_;
  ImVector<ImDrawIdx> indices_;
  ImVector<ImDrawVert> vertices_;
  bool spared_ = false;                       ///< no triangle is drawn
  std::vector<std::vector<ImDrawIdx>> kept_;  ///< indices of one command, per box
};

}  // namespace

void Fingerprint::addBytes(const void* bytes, std::size_t size) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  for (std::uint64_t word = 0; size > 0; word = 0) {
    const std::size_t part = std::min(size, sizeof word);
    std::memcpy(&word, from, part);
    add(word);
    from += part;
    size -= part;
  }
}

void CallbackPart::callback(const ImDrawList*, const ImDrawCmd* command) {
  const ImVec4& clip = command->ClipRect;
  static_cast<CallbackPart*>(command->UserCallbackData)
      ->draw({static_cast<int>(clip.x), static_cast<int>(clip.y), static_cast<int>(clip.z),
              static_cast<int>(clip.w)});
}

std::vector<PixelBox> Damage::compare(const ImDrawData& drawn, const Frame& frame) {
  Fingerprint seed;
  seed.addAll(frame.clear[0], frame.clear[1], frame.clear[2]);
  Squares squares(frame.width, frame.height, seed.value());
  const PixelBox whole{0, 0, frame.width, frame.height};
  for (int i = 0; i < drawn.CmdListsCount; ++i) {
    const ImDrawList& list = *drawn.CmdLists[i];
    const std::vector<std::uint64_t> prints = vertexPrints(list);
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback == CallbackPart::callback) {
        static_cast<const CallbackPart*>(command.UserCallbackData)
            ->describe([&](const ImRect& area, std::uint64_t print) { squares.add(area, whole, print); });
      } else if (!command.UserCallback) {
        const PixelBox scissor = scissorOf(command, frame.height);
        const ImTextureID texture = command.GetTexID();
        const auto version = frame.textureVersion(texture);
        Fingerprint state;
        state.addAll(texture, scissor, version ? *version : ++changes_);
        addTriangles(list, command, state.value(), scissor, prints, squares);
      }
    }
  }
  const std::vector<std::uint64_t> before = std::exchange(squares_, squares.take());
  const bool same = std::exchange(width_, frame.width) == frame.width &&
                    std::exchange(height_, frame.height) == frame.height;
  if (!same || before.size() != squares_.size()) return {whole};
  std::vector<PixelBox> boxes = differingBoxes(before, squares_, frame.width, frame.height);
  merge(boxes);
  return boxes;
}

void withinBoxes(ImDrawData& drawn, std::span<const PixelBox> boxes, const std::function<void()>& render) {
  const auto width = static_cast<int>(drawn.DisplaySize.x), height = static_cast<int>(drawn.DisplaySize.y);
  const BoxFinder finder(boxes, width, height);
  std::vector<std::unique_ptr<CutList>> cut;
  for (int i = 0; i < drawn.CmdListsCount; ++i)
    cut.push_back(std::make_unique<CutList>(*drawn.CmdLists[i], boxes, finder, height));
  render();
}

}  // namespace headscope::app
