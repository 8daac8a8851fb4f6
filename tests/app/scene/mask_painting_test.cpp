#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "app/scene/mask_rules.h"
#include "attention/masks/runs.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/app/scene/random_scene.h"

namespace headscope::app {
namespace {

using attention::CellRow;
using attention::CellTable;
using attention::KeyRun;
using attention::KeyRuns;
using attention::Matrix;
using test::Dice;
using Cells = std::set<std::pair<Index, Index>>;

/// The cells that a stroke covers, one by one. Checks that its runs are well-formed.
Cells covered(const Stroke& stroke, Index queries, Index keys) {
  const std::vector<KeyRuns> rows = strokeCells(stroke, queries, keys);
  EXPECT_EQ(std::ssize(rows), queries);
  Cells cells;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Index from = -1;
    for (const KeyRun& run : rows[row]) {
      EXPECT_GT(run.begin, from) << "runs overlap, touch or leave the matrix";
      EXPECT_LT(run.begin, run.end);
      EXPECT_LE(run.end, keys);
      from = run.end;
      for (Index key = run.begin; key < run.end; ++key) cells.insert({static_cast<Index>(row), key});
    }
  }
  return cells;
}

/// The cells of a matrix for which `inside` holds.
Cells cellsWhere(Index queries, Index keys, const std::function<bool(Index, Index)>& inside) {
  Cells cells;
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j)
      if (inside(i, j)) cells.insert({i, j});
  return cells;
}

/// Whether `at` is one of `size` cells around `middle`; if `size` is even, `middle` is the first of the two
/// central cells.
bool around(Index at, Index middle, Index size) {
  const Index first = middle - (size - 1) / 2;
  return at >= first && at < first + size;
}

/// A stroke from one random place in or around a matrix to another.
Stroke randomStroke(Dice& dice, PaintTool tool, Index queries, Index keys) {
  const auto row = [&] { return dice.between(-3, queries + 2); };
  const auto key = [&] { return dice.between(-3, keys + 2); };
  return {tool, row(), key(), row(), key(), dice.between(1, 5), false};
}

/// Compares a tool's cells with `inside`, for random strokes and matrices.
void expectCovers(PaintTool tool, const std::function<bool(const Stroke&, Index, Index)>& inside) {
  Dice dice(static_cast<std::uint64_t>(tool) + 3);
  for (int round = 0; round < 300; ++round) {
    const Index queries = dice.between(1, 12), keys = dice.between(1, 12);
    const Stroke stroke = randomStroke(dice, tool, queries, keys);
    const auto expected = [&](Index i, Index j) { return inside(stroke, i, j); };
    ASSERT_EQ(covered(stroke, queries, keys), cellsWhere(queries, keys, expected))
        << "from " << stroke.fromRow << ", " << stroke.fromKey << " to " << stroke.toRow << ", "
        << stroke.toKey << ", size " << stroke.size;
  }
}

TEST(Strokes, ToolsCoverTheirShapes) {
  expectCovers(PaintTool::look, [](const Stroke&, Index, Index) { return false; });
  expectCovers(PaintTool::rectangle, [](const Stroke& s, Index i, Index j) {
    return i >= std::min(s.fromRow, s.toRow) && i <= std::max(s.fromRow, s.toRow) &&
           j >= std::min(s.fromKey, s.toKey) && j <= std::max(s.fromKey, s.toKey);
  });
  // Between the two ends, each `size` wide.
  const auto swept = [](Index at, Index from, Index to, Index size) {
    for (Index middle = std::min(from, to); middle <= std::max(from, to); ++middle)
      if (around(at, middle, size)) return true;
    return false;
  };
  expectCovers(PaintTool::row,
               [&](const Stroke& s, Index i, Index) { return swept(i, s.fromRow, s.toRow, s.size); });
  expectCovers(PaintTool::column,
               [&](const Stroke& s, Index, Index j) { return swept(j, s.fromKey, s.toKey, s.size); });
  expectCovers(PaintTool::diagonal, [&](const Stroke& s, Index i, Index j) {
    return swept(j - i, s.fromKey - s.fromRow, s.toKey - s.toRow, s.size);
  });
}

/// A thin line has one cell per step along its longer side, the nearest to the straight line. A thick line
/// has a square around each of those cells.
TEST(Strokes, LinesCoverCellsNearestToTheStraightLine) {
  Dice dice(8);
  for (int round = 0; round < 400; ++round) {
    const Index size = 40;
    Stroke stroke{dice.coin() ? PaintTool::line : PaintTool::brush,
                  dice.between(8, 30),
                  dice.between(8, 30),
                  dice.between(8, 30),
                  dice.between(8, 30),
                  1,
                  false};
    const Cells thin = covered(stroke, size, size);
    const auto down = static_cast<double>(stroke.toRow - stroke.fromRow),
               right = static_cast<double>(stroke.toKey - stroke.fromKey);
    const bool steep = std::abs(down) >= std::abs(right);
    const double length = std::max(std::abs(down), std::abs(right));
    ASSERT_EQ(static_cast<double>(thin.size()), length + 1);
    for (const auto& [i, j] : thin) {
      const double along =
          steep ? static_cast<double>(i - stroke.fromRow) : static_cast<double>(j - stroke.fromKey);
      const double across =
          steep ? static_cast<double>(j - stroke.fromKey) : static_cast<double>(i - stroke.fromRow);
      const double slope = length == 0 ? 0 : steep ? right / down : down / right;
      ASSERT_LE(std::abs(across - along * slope), 0.5);
    }
    ASSERT_TRUE(thin.contains({stroke.fromRow, stroke.fromKey}));
    ASSERT_TRUE(thin.contains({stroke.toRow, stroke.toKey}));
    stroke.size = dice.between(2, 6);
    const Cells thick = cellsWhere(size, size, [&](Index i, Index j) {
      return std::any_of(thin.begin(), thin.end(), [&](const auto& cell) {
        return around(i, cell.first, stroke.size) && around(j, cell.second, stroke.size);
      });
    });
    ASSERT_EQ(covered(stroke, size, size), thick);
    // A line cut at the edges keeps its shape.
    Stroke moved = stroke;
    for (Index* place : {&moved.fromRow, &moved.fromKey, &moved.toRow, &moved.toKey}) *place -= 15;
    const Cells cut = cellsWhere(11, 13, [&](Index i, Index j) { return thick.contains({i + 15, j + 15}); });
    ASSERT_EQ(covered(moved, 11, 13), cut);
  }
}

TEST(Strokes, MirrorAddsCellsWithQueryAndKeySwapped) {
  Dice dice(9);
  for (int round = 0; round < 1000; ++round) {
    const Index size = dice.between(1, 14);
    Stroke stroke = randomStroke(dice, dice.any(PaintTool::line), size, size);
    Cells expected = covered(stroke, size, size);
    for (const auto& [i, j] : Cells(expected)) expected.insert({j, i});
    stroke.mirror = true;
    ASSERT_EQ(covered(stroke, size, size), expected)
        << "tool " << static_cast<int>(stroke.tool) << ", size " << stroke.size << ", from " << stroke.fromRow
        << ", " << stroke.fromKey << " to " << stroke.toRow << ", " << stroke.toKey;
  }
  // In a matrix that isn't square, the mirrored part is cut at its edges.
  EXPECT_EQ(covered({PaintTool::rectangle, 0, 4, 1, 6, 1, true}, 3, 8),
            (Cells{{0, 4}, {0, 5}, {0, 6}, {1, 4}, {1, 5}, {1, 6}}));
  EXPECT_EQ(covered({PaintTool::row, 1, 0, 1, 0, 1, true}, 2, 4),
            (Cells{{1, 0}, {1, 1}, {1, 2}, {1, 3}, {0, 1}}));
}

TEST(Strokes, StrokesOutsideTouchNothing) {
  for (const PaintTool tool : {PaintTool::brush, PaintTool::rectangle, PaintTool::row, PaintTool::line}) {
    EXPECT_TRUE(covered({tool, -50, -50, -40, -40, 3, true}, 8, 8).empty());
    EXPECT_TRUE(covered({tool, 50, 50, 40, 40, 3, true}, 8, 8).empty());
  }
  EXPECT_TRUE(covered({PaintTool::rectangle, 0, 0, 5, 5, 1, false}, 0, 0).empty());
}

enum class Said { nothing, visible, masked };

Said said(const CellTable& table, Index row, Index key) {
  const auto& cells = table.rows.at(static_cast<std::size_t>(row));
  const auto in = [&](const KeyRuns& runs) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const KeyRun& r) { return key >= r.begin && key < r.end; });
  };
  if (!cells) return Said::nothing;
  EXPECT_FALSE(in(cells->visible) && in(cells->masked)) << "said twice of " << row << ", " << key;
  return in(cells->visible) ? Said::visible : in(cells->masked) ? Said::masked : Said::nothing;
}

/// Overlapping strokes with all tools, compared with a picture whose cells are set one by one.
TEST(Painting, StrokesSetOnlyTheirCells) {
  Dice dice(10);
  for (int round = 0; round < 60; ++round) {
    CellTable table;
    std::vector<std::vector<Said>> expected(16, std::vector<Said>(16, Said::nothing));
    Index queries = 0, keys = 0;
    for (int stroke = 0; stroke < 12; ++stroke) {
      // The text gets longer and shorter; paint beyond its end stays.
      const Index n = dice.between(1, 16), m = dice.between(1, 16);
      queries = std::max(queries, n);
      keys = std::max(keys, m);
      Stroke next = randomStroke(dice, dice.any(PaintTool::line), n, m);
      next.mirror = dice.oneIn(4);
      const Said value = static_cast<Said>(dice.below(3));
      if (value == Said::nothing)
        erase(table, next, n, m);
      else
        paint(table, next, n, m, value == Said::visible);
      for (const auto& [i, j] : covered(next, n, m))
        expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = value;
      ASSERT_EQ(table.queries, queries);
      ASSERT_EQ(table.keys, keys);
      ASSERT_EQ(std::ssize(table.rows), queries);
      for (Index i = 0; i < queries; ++i)
        for (Index j = 0; j < keys; ++j)
          ASSERT_EQ(said(table, i, j), expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)])
              << "round " << round << ", stroke " << stroke << " at " << i << ", " << j;
    }
  }
}

TEST(Painting, CopiesShareUntouchedRows) {
  SharedValue<CellTable> painting;
  paint(painting.edit(), {PaintTool::rectangle, 0, 0, 7, 7, 1, false}, 8, 8, true);
  const SharedValue<CellTable> before = painting;
  const CellTable same = *before;
  paint(painting.edit(), {PaintTool::rectangle, 2, 2, 3, 3, 1, false}, 8, 8, false);
  erase(painting.edit(), {PaintTool::rectangle, 5, 0, 5, 0, 1, false}, 8, 8);
  EXPECT_EQ(*before, same) << "the copy that the history keeps was painted on";
  for (std::size_t row = 0; row < 8; ++row)
    EXPECT_EQ(painting->rows[row] == before->rows[row], row != 2 && row != 3 && row != 5) << "row " << row;
}

TEST(Painting, ErasedCellsEqualUnpaintedOnes) {
  CellTable painted;
  paint(painted, {PaintTool::diagonal, 0, 0, 0, 2, 1, true}, 6, 6, true);
  erase(painted, {PaintTool::rectangle, 0, 0, 5, 5, 1, false}, 6, 6);
  EXPECT_EQ(painted, (CellTable{1, 6, 6, std::vector<std::shared_ptr<const CellRow>>(6)}));
  CellTable untouched;
  erase(untouched, {PaintTool::row, 0, 0, 3, 0, 1, false}, 6, 6);
  EXPECT_EQ(untouched, painted);
}

/// A painted layer sets the cells that were painted and leaves the rest to the layers before it.
TEST(Painting, PaintedCellsOverrideEarlierLayers) {
  app::Setup setup = test::plainSetup("a b c d e");
  setup.mask.layers = test::layersFrom("causal then painted(\"p\")");
  CellTable table;
  paint(table, {PaintTool::rectangle, 0, 3, 1, 4, 1, false}, 5, 5, true);
  paint(table, {PaintTool::column, 0, 0, 0, 0, 1, false}, 5, 5, false);
  setup.mask.paintings["p"] = table;
  const Snapshot snapshot = test::computed(setup);
  const attention::MaskFormula& mask = *snapshot.sequences[0].mask.formula;
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j)
      EXPECT_EQ(mask.visible(0, i, j), j != 0 && (j <= i || (i < 2 && j > 2))) << i << ", " << j;
}

TEST(Painting, PaintedBiasesGrowWithZeros) {
  Matrix additive = Matrix::Constant(2, 3, 7);
  const Stroke stroke{PaintTool::diagonal, 0, 1, 0, 1, 1, false};
  paint(additive, stroke, 4, 5, -1.5F);
  ASSERT_EQ(additive.rows(), 4);
  ASSERT_EQ(additive.cols(), 5);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 5; ++j)
      EXPECT_EQ(additive(i, j), j == i + 1 ? -1.5F : i < 2 && j < 3 ? 7.0F : 0.0F) << i << ", " << j;
  // A stroke over a shorter text doesn't change cells beyond it.
  paint(additive, {PaintTool::rectangle, 0, 0, 9, 9, 1, false}, 1, 1, 4);
  EXPECT_EQ(additive.rows(), 4);
  EXPECT_EQ(additive(0, 0), 4);
  EXPECT_EQ(additive(0, 1), -1.5F);
  Matrix empty;
  paint(empty, stroke, 2, 2, 3);
  EXPECT_EQ(empty, (Matrix{{0, 3}, {0, 0}}));
}

std::string chosenFor(const char* expression, Index& selected, MaskSetup& mask) {
  mask.layers = test::layersFrom(expression);
  return paintingFor(mask, mask.layers.edit(), selected);
}

TEST(PaintingFor, UsesSelectedOrLastEnabledPainting) {
  MaskSetup mask;
  Index selected = 1;
  EXPECT_EQ(chosenFor("causal & painted(\"a\") & painted(\"b\")", selected, mask), "a");
  EXPECT_EQ(selected, 1);
  selected = 0;
  EXPECT_EQ(chosenFor("causal & painted(\"a\") & painted(\"b\")", selected, mask), "b");
  EXPECT_EQ(selected, 2) << "what is painted on is selected";
  selected = 0;
  EXPECT_EQ(
      chosenFor("causal & painted(\"a\") & off: painted(\"b\") & heads(0): painted(\"c\")", selected, mask),
      "a");
  selected = 3;
  EXPECT_EQ(
      chosenFor("causal & painted(\"a\") & off: painted(\"b\") & heads(0): painted(\"c\")", selected, mask),
      "c")
      << "selected by hand";
  EXPECT_EQ(mask.paintings.size(), 0u) << "no new painting was needed";
  for (const Index beyond : {-1, 4, 99}) {
    selected = beyond;
    EXPECT_EQ(chosenFor("causal & painted(\"a\")", selected, mask), "a");
  }
}

TEST(PaintingFor, AddsPaintedLayerWhenNoneExists) {
  MaskSetup mask;
  mask.paintings["painting 1"] = CellTable{};
  Index selected = 0;
  EXPECT_EQ(chosenFor("causal | sinks(1)", selected, mask), "painting 2");
  EXPECT_EQ(attention::maskText(mask.layers), "causal | sinks(1) then painted(\"painting 2\")");
  EXPECT_EQ(selected, 2);
  EXPECT_TRUE(mask.paintings.contains("painting 2"));
  EXPECT_EQ(paintingFor(mask, mask.layers.edit(), selected), "painting 2")
      << "the next stroke goes there too";
  // The second mask has its own layers; paintings are shared by name.
  mask.other = test::layersFrom("causal");
  selected = 0;
  EXPECT_EQ(paintingFor(mask, mask.other.edit(), selected), "painting 3");
}

TEST(SharedValue, CopiesShareUntilOneIsEdited) {
  SharedValue<std::vector<int>> one(std::vector<int>{1, 2, 3});
  SharedValue<std::vector<int>> two = one;
  EXPECT_EQ(one.pointer(), two.pointer());
  EXPECT_EQ(one, two);
  two.edit().push_back(4);
  EXPECT_NE(one, two);
  EXPECT_EQ(one->size(), 3u);
  EXPECT_EQ(*two, (std::vector<int>{1, 2, 3, 4}));
  two.edit().pop_back();
  EXPECT_NE(one.pointer(), two.pointer());
  EXPECT_EQ(one, two) << "equal by what they hold";
  EXPECT_TRUE(SharedValue<std::vector<int>>()->empty());
}

/// Whoever still holds the value, such as a worker, sees it unchanged.
TEST(SharedValue, EditingLeavesOtherHoldersUnchanged) {
  SharedValue<std::string> value(std::string("before"));
  const auto held = value.pointer();
  value.edit() = "after";
  EXPECT_EQ(*held, "before");
  EXPECT_EQ(*value, "after");
}

}  // namespace
}  // namespace headscope::app
