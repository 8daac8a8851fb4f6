#include <algorithm>
#include <bit>
#include <cstdint>

#include "attention/masks/rows.h"
#include "attention/masks/runs.h"

namespace headscope::attention {
namespace {

/// A rectangle of cells; `y` and `x` are its first.
struct Cells {
  Index y = 0, x = 0, height = 0, width = 0;
  Index count() const { return height * width; }
  bool holds(const Cells& other) const {
    return y <= other.y && x <= other.x && other.y + other.height <= y + height &&
           other.x + other.width <= x + width;
  }
  bool meets(const Cells& other) const {
    return y < other.y + other.height && other.y < y + height && x < other.x + other.width &&
           other.x < x + width;
  }
};

/// The cells of a grid that lie in a square of the Z-order curve. The curve passes through all of a square
/// before it leaves it, so that the cells of one square are one run of tokens.
Cells squareOf(const Cells& grid, Index y, Index x, Index side) {
  return {y, x, std::clamp<Index>(grid.height - y, 0, side), std::clamp<Index>(grid.width - x, 0, side)};
}

Index outerSide(const Cells& grid) {
  return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(std::max(grid.height, grid.width))));
}

/// Walks along the curve and gathers the tokens whose cells lie in a window.
class ZOrderWalk {
 public:
  ZOrderWalk(const Cells& grid, const Cells& window, Index keys, KeyRuns& out)
      : grid_(grid), window_(window), keys_(keys), out_(out) {}

  void visit(Index y, Index x, Index side) {
    const Cells square = squareOf(grid_, y, x, side);
    if (square.count() == 0 || token_ >= keys_) return;
    if (!window_.meets(square)) {
      token_ += square.count();
    } else if (window_.holds(square)) {
      appendRun(out_, token_, std::min(token_ + square.count(), keys_));
      token_ += square.count();
    } else {
      const Index half = side / 2;
      visit(y, x, half);
      visit(y, x + half, half);
      visit(y + half, x, half);
      visit(y + half, x + half, half);
    }
  }

 private:
  const Cells& grid_;
  const Cells& window_;
  Index keys_, token_ = 0;
  KeyRuns& out_;
};

}  // namespace

GridCell zOrderCell(Index height, Index width, Index token) {
  const Cells grid{0, 0, height, width};
  GridCell at;
  for (Index side = outerSide(grid) / 2; side > 0; side /= 2) {
    for (int quarter = 0; quarter < 4; ++quarter) {
      const GridCell corner{at.y + (quarter / 2) * side, at.x + (quarter % 2) * side};
      const Index cells = squareOf(grid, corner.y, corner.x, side).count();
      if (token < cells) {
        at = corner;
        break;
      }
      token -= cells;
    }
  }
  return at;
}

Index windowStart(Index at, Index side, Index kernel) {
  return std::clamp<Index>(at - kernel / 2, 0, std::max<Index>(0, side - kernel));
}

void gridRow(const Rule& rule, const RowPlace& place, KeyRuns& out) {
  const Cells grid{0, 0, rule.counts[0], rule.counts[1]};
  const Index kernel = rule.counts[2], i = place.position;
  if (i >= grid.count()) return;
  const bool zOrder = rule.kind == PatternKind::neighborhoodZ;
  const GridCell at =
      zOrder ? zOrderCell(grid.height, grid.width, i) : GridCell{i / grid.width, i % grid.width};
  const Cells window{windowStart(at.y, grid.height, kernel), windowStart(at.x, grid.width, kernel),
                     std::min(kernel, grid.height), std::min(kernel, grid.width)};
  if (zOrder) return ZOrderWalk(grid, window, place.keys, out).visit(0, 0, outerSide(grid));
  for (Index y = window.y; y < window.y + window.height; ++y) {
    const Index first = y * grid.width + window.x;
    if (first >= place.keys) return;
    appendRun(out, first, std::min(first + window.width, place.keys));
  }
}

}  // namespace headscope::attention
