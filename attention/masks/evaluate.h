#pragma once

#include <deque>

#include "attention/masks/program.h"

namespace headscope::attention {

/// Works out rows of programs. Keeps its buffers from row to row, so that after the first few nothing is
/// allocated; one for each thread.
class RowEvaluator {
 public:
  /// The keys that the query at `place` sees, written over `out`. Cells that no layer decides are
  /// visible.
  void visibleRuns(const MaskProgram& program, const RowPlace& place, KeyRuns& out);

 private:
  /// A row on its way through the layers: cells that are not decided yet are neither visible nor masked.
  struct RowValue {
    KeyRuns visible;
    KeyRuns decided;  ///< holds `visible`; not read where decidesAll
    bool decidesAll = true;
  };
  /// Buffers for one depth of brackets.
  struct Level {
    RowValue folded, layer;
    KeyRuns first, second;
  };

  Level& level(std::size_t depth);
  void evaluate(const MaskProgram& program, const RowPlace& place, std::size_t depth, KeyRuns& out);
  /// Leaves the value of the whole list in level(depth).folded.
  void fold(const MaskProgram& program, const RowPlace& place, std::size_t depth);
  void stepValue(const Step& step, const RowPlace& place, std::size_t depth, RowValue& out);
  void documentRow(const Rule& rule, const RowPlace& place, std::size_t depth, KeyRuns& out);
  static void cellValue(const Rule& rule, const RowPlace& place, RowValue& out, Level& buffers);
  static void negate(RowValue& value, Index keys, Level& buffers);
  static void join(Combine combine, Index keys, Level& level);
  static void joinWhereDecided(Combine combine, Level& level);

  std::deque<Level> levels_;
};

}  // namespace headscope::attention
