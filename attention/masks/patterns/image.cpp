#include <fmt/core.h>

#include <bit>

#include "attention/masks/patterns/definition.h"

namespace headscope::attention {
namespace {

constexpr std::array kSpans{
    readFrom(text_parts::images, "spans", ParameterKind::spans, "", "first and last position of each image")};

/// Returns the images, ascending and not overlapping.
Result<RuleLists> imageLists(const Given& given) {
  auto spans = given.spans(0);
  if (!spans) return spans.error();
  std::erase_if(*spans, [](const KeyRun& span) { return span.begin >= span.end; });
  const auto spanText = [](const KeyRun& span) { return fmt::format("{}-{}", span.begin, span.end - 1); };
  for (std::size_t k = 1; k < spans->size() && given.argument(0); ++k)
    if ((*spans)[k].begin < (*spans)[k - 1].end)
      return Error{given.title(0) + " hold " + spanText((*spans)[k]) + " after " + spanText((*spans)[k - 1]) +
                   ", expected ascending spans that don't overlap"};
  return RuleLists{.spans = std::move(spans).value()};
}

/// Returns the image that contains `position`, or else the next one.
auto imageAt(const std::vector<KeyRun>& images, Index position) {
  return std::partition_point(images.begin(), images.end(),
                              [&](const KeyRun& run) { return run.end <= position; });
}

constexpr LookupTable kImage{
    .name = "image",
    .define = [](const TableSource& source) -> std::string {
      const auto& spans = source.rule.lists->spans;
      if (spans.empty()) return "";
      limitCode(static_cast<Index>(spans.size()), kMaxSpelledOut, "the number of images is");
      std::vector<std::string> items;
      for (const KeyRun& span : spans) items.push_back(codeTuple({span.begin, span.end}));
      return "@ = " + source.dialect.zeros(std::to_string(source.sizes.positions()), "int64") +
             "\nfor number, (begin, end) in enumerate(" + codeList(items) +
             ", 1):\n    @[begin:end] = number\n";
    },
    .value = [](const Rule& rule, const RowPlace&, Index position, Index) -> Index {
      const auto& images = rule.lists->spans;
      const auto image = imageAt(images, position);
      return image != images.end() && image->begin <= position ? image - images.begin() + 1 : 0;
    },
};

}  // namespace

constinit const Pattern patterns::image{
    .info = {.name = "image",
             .title = "Image tokens bidirectional",
             .help = "Causal text; the tokens of one image see each other both ways.",
             .formula = "j ≤ i or i, j in the same image",
             .users = "Gemma 3, Transfusion",
             .example = "image([3-9, 14-20])",
             .parameters = kSpans},
    .visible = [](const Number& i, const Number& j) -> Truth {
      return (j <= i) | called("{i}, {j} in the same image[ of {spans}]",
                               (at(kImage, i) != 0) & (at(kImage, i) == at(kImage, j)));
    },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const auto& images = rule.lists->spans;
          const auto image = imageAt(images, at.position);
          const bool inside = image != images.end() && image->begin <= at.position;
          appendRun(out, 0, std::min(inside ? image->end : at.position + 1, at.keys));
        },
    .lists = imageLists,
};

namespace {

constexpr std::array kNeighborhoodNumbers{
    readFrom(text_parts::gridHeight, "height", ParameterKind::count, "height", "rows of the grid", 1),
    readFrom(text_parts::gridWidth, "width", ParameterKind::count, "width", "columns of the grid", 1),
    oddNumber("kernel", 3, "side of the square a token sees")};

/// A rectangle of cells; `y` and `x` are its first row and column.
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

/// Returns the cells of a grid that lie in a square of the Z-order curve. The curve visits all of a square
/// before it leaves it, so the cells of a square are one run of tokens.
Cells squareOf(const Cells& grid, Index y, Index x, Index side) {
  return {y, x, std::clamp<Index>(grid.height - y, 0, side), std::clamp<Index>(grid.width - x, 0, side)};
}

Index outerSide(const Cells& grid) {
  return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(std::max(grid.height, grid.width))));
}

/// Walks along the curve and collects the tokens whose cells lie in a window.
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

struct GridCell {
  Index y = 0, x = 0;
};

/// Returns cell number `token` along the Z-order curve: cells ascend by Morton code, with the column in the
/// even bits and the row in the odd ones. token < height · width.
GridCell zOrderCell(const Cells& grid, Index token) {
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

Cells gridOf(const Rule& rule) {
  return {0, 0, rule.counts[0], rule.counts[1]};
}

/// Returns the first of the `kernel` rows (or columns) out of `side` that `at` sees: kernel/2 (rounded down)
/// before it, shifted so that all lie inside, as in NATTEN.
Index windowStart(Index at, Index side, Index kernel) {
  return std::clamp<Index>(at - kernel / 2, 0, std::max<Index>(0, side - kernel));
}

Cells windowAround(const Cells& grid, const GridCell& at, Index kernel) {
  return {windowStart(at.y, grid.height, kernel), windowStart(at.x, grid.width, kernel),
          std::min(kernel, grid.height), std::min(kernel, grid.width)};
}

/// Whether both positions lie on the grid and the key's cell lies in the query's square.
Truth inWindow(const Number& i, const Number& j, const Number& yOfI, const Number& yOfJ, const Number& xOfI,
               const Number& xOfJ) {
  const Number height = parameter("height"), width = parameter("width"), kernel = parameter("kernel");
  const auto within = [&](const Number& own, const Number& other, const Number& side) {
    const Number first = clip(own - kernel / 2, 0, max(0, side - kernel));
    return (other >= first) & (other < first + kernel);
  };
  const Number cells = height * width;
  return (i < cells) & (j < cells) & within(yOfI, yOfJ, height) & within(xOfI, xOfJ, width);
}

/// Writes the y (or x) of each position's cell along the curve.
std::string defineZOrder(const TableSource& source, const char* which) {
  constexpr Index kMaxGridCells = Index{1} << 20;
  limitCode(gridOf(source.rule).count(), kMaxGridCells, "the number of cells of the grid is");
  const std::string height = std::to_string(source.rule.counts[0]),
                    width = std::to_string(source.rule.counts[1]),
                    positions = std::to_string(source.sizes.positions());
  return "order = [(y, x) for y in range(" + height + ") for x in range(" + width +
         ")]\n"
         "order.sort(key=lambda cell: sum(((cell[0] >> bit & 1) << 2 * bit + 1)\n"
         "                                | ((cell[1] >> bit & 1) << 2 * bit) for bit in range(21)))\n"
         "@ = " +
         source.dialect.integers("([" + std::string(which) + " for y, x in order] + [0] * " + positions +
                                 ")[:" + positions + "]") +
         "\n";
}

GridCell tabledCell(const Rule& rule, Index token) {
  const Cells grid = gridOf(rule);
  return token < grid.count() ? zOrderCell(grid, token) : GridCell{};
}

constexpr LookupTable kGridY{
    .name = "grid_y",
    .define = [](const TableSource& source) { return defineZOrder(source, "y"); },
    .value = [](const Rule& rule, const RowPlace&, Index token, Index) { return tabledCell(rule, token).y; },
};
constexpr LookupTable kGridX{
    .name = "grid_x",
    .define = [](const TableSource& source) { return defineZOrder(source, "x"); },
    .value = [](const Rule& rule, const RowPlace&, Index token, Index) { return tabledCell(rule, token).x; },
};

}  // namespace

/// Hassani et al. 2023, "Neighborhood Attention Transformer".
constinit const Pattern patterns::neighborhood{
    .info = {.name = "neighborhood",
             .title = "Neighbourhood 2D",
             .help = "Tokens form a grid, row by row; each sees the square of cells around its own.",
             .formula = "key in the query's k × k square, clamped",
             .users = "NAT, NATTEN",
             .example = "neighborhood(height=5, width=5, kernel=3)",
             .parameters = kNeighborhoodNumbers},
    .visible =
        [](const Number& i, const Number& j) {
          const Number width = parameter("width");
          return called("{j} in the {kernel} × {kernel} square of {i} on {height} × {width}",
                        inWindow(i, j, i / width, j / width, i % width, j % width));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Cells grid = gridOf(rule);
          if (at.position >= grid.count()) return;
          const GridCell cell{at.position / grid.width, at.position % grid.width};
          const Cells window = windowAround(grid, cell, rule.counts[2]);
          for (Index y = window.y; y < window.y + window.height; ++y) {
            const Index first = y * grid.width + window.x;
            if (first >= at.keys) return;
            appendRun(out, first, std::min(first + window.width, at.keys));
          }
        },
};

constinit const Pattern patterns::neighborhoodZ{
    .info = {.name = "neighborhood_z",
             .title = "Neighbourhood 2D, Z-order",
             .help = "Like Neighbourhood 2D, with tokens ordered along a curve that keeps neighbours close.",
             .formula = "the same, tokens along the Z-order curve",
             .users = "attention-gym's Morton order",
             .example = "neighborhood_z(height=5, width=5, kernel=3)",
             .parameters = kNeighborhoodNumbers},
    .visible =
        [](const Number& i, const Number& j) {
          return called("{j} in the {kernel} × {kernel} square of {i} on {height} × {width}, Z-order",
                        inWindow(i, j, at(kGridY, i), at(kGridY, j), at(kGridX, i), at(kGridX, j)));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Cells grid = gridOf(rule);
          if (at.position >= grid.count()) return;
          const Cells window = windowAround(grid, zOrderCell(grid, at.position), rule.counts[2]);
          ZOrderWalk(grid, window, at.keys, out).visit(0, 0, outerSide(grid));
        },
};

}  // namespace headscope::attention
