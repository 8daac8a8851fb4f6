#pragma once

#include "attention/masks/program.h"

namespace headscope::attention {

/// Where a row stands: its query's position and the keys there are. Inside documents(…) all are counted from
/// the document's start.
struct RowPlace {
  Index row = 0;          ///< from 0, whatever the cache holds
  Index position = 0;     ///< i
  Index keys = 0;         ///< m
  Index cacheLength = 0;  ///< C
};

/// The keys one rule lets the query at `place` see, written over `out`. Not for documents, painted and file,
/// which are more than a formula over positions.
void ruleRow(const Rule& rule, const RowPlace& place, KeyRuns& out);

// Its parts, by what a pattern goes by; `out` is empty.
void localRow(const Rule& rule, const RowPlace& place, KeyRuns& out);  ///< distances and blocks
void bigBirdRow(const Rule& rule, const RowPlace& place, KeyRuns& out);
void textRow(const Rule& rule, const RowPlace& place, KeyRuns& out);  ///< documents, prefixes, images, parts
void treeRow(const Rule& rule, const RowPlace& place, KeyRuns& out);
void gridRow(const Rule& rule, const RowPlace& place, KeyRuns& out);  ///< neighbourhoods

/// bigbird: the blocks that row of blocks `blockRow` sees besides those in its window and the global ones:
/// ascending, the same for all rows of it, fewer than asked for where there are fewer. Written over `out`.
void randomBlocks(const Rule& rule, Index blockRow, Index keys, std::vector<Index>& out);

/// Which document `position` lies in; `starts` ascend from 0.
std::size_t documentOf(const std::vector<Index>& starts, Index position);

/// neighborhood, neighborhood_z: a token's place on the grid of height × width cells.
struct GridCell {
  Index y = 0, x = 0;
};
/// The `token`-th cell along the Z-order curve: cells ascend by their Morton code, the column in its even
/// bits, the row in its odd ones. token < height · width.
GridCell zOrderCell(Index height, Index width, Index token);
/// The first of the `kernel` rows (or columns) that `at` sees among `side`: kernel/2 before it (rounded
/// down), moved so that all lie inside, as in NATTEN.
Index windowStart(Index at, Index side, Index kernel);

}  // namespace headscope::attention
