#pragma once

#include <deque>

#include "attention/masks/expression.h"
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

/// Returns all files a mask names, as pairs of path and convention.
std::vector<std::pair<std::string, std::string>> filesOf(const MaskLayers& layers);

/// Compiles the mask for one geometry. Evaluating a row takes as many steps as it has runs, whatever its
/// length; nothing of size queries × keys is stored. A layer that doesn't apply (switched off, other heads,
/// unset cells of a painting) has no effect; cells that no layer decides are visible.
/// Returns an Error for a file whose size isn't queries × keys, a painting or file missing from `sources`, a
/// tree with a cycle or a missing parent, a prefix longer than the keys, positions beyond the keys, or
/// documents(…) around a cell-by-cell pattern, another documents(…), or a pattern with values from the text.
Result<std::shared_ptr<const MaskFormula>> compileMask(const MaskLayers& layers, const MaskGeometry& geometry,
                                                       const MaskSources& sources = {});

/// Returns why a layer doesn't apply in this geometry ("switched off"); empty if it applies.
std::string omittedReason(const Layer& layer, const MaskGeometry& geometry);

/// A layer that doesn't apply, and why.
struct OmittedLayer {
  std::string text, reason;
};
/// Returns all layers that don't apply, including those in brackets and in documents(…).
std::vector<OmittedLayer> omittedLayers(const MaskLayers& layers, const MaskGeometry& geometry);

/// Whether any layer that is on compares the positions of query and key.
bool comparesPositions(const MaskLayers& layers);
/// Returns the rule for unequal numbers of queries and keys: "causal masks compare positions, j ≤ i; with
/// 3 queries over 5 keys, the first query is at i = 0".
std::string positionRule(Index queries, Index keys, Index cacheLength);

}  // namespace headscope::attention
