#pragma once

#include <deque>

#include "attention/masks/program.h"

namespace headscope::attention {

/// Evaluates rows of programs. Reuses its buffers, so that nothing is allocated after the first few rows.
/// Not thread-safe; use one per thread.
class RowEvaluator {
 public:
  /// Replaces `out` with the keys that the query at `place` sees. Cells that no layer decides are visible.
  void visibleRuns(const MaskProgram& program, const RowPlace& place, KeyRuns& out);

 private:
  /// An intermediate row. Undecided cells are neither visible nor masked.
  struct RowValue {
    KeyRuns visible;
    KeyRuns decided;  ///< superset of `visible`; unused if decidesAll
    bool decidesAll = true;
  };
  /// Buffers for one depth of brackets.
  struct Level {
    RowValue folded, layer;
    KeyRuns first, second;
  };

  Level& level(std::size_t depth);
  void evaluate(const MaskProgram& program, const RowPlace& place, std::size_t depth, KeyRuns& out);
  /// Stores the value of the whole list in level(depth).folded.
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
