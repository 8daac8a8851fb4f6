#include "attention/masks/evaluate.h"

#include <algorithm>
#include <utility>

#include "attention/masks/patterns/definition.h"
#include "attention/masks/patterns/documents.h"

namespace headscope::attention {
namespace {

bool coversAll(const KeyRuns& runs, Index keys) {
  return keys == 0 || (runs.size() == 1 && runs[0] == KeyRun{0, keys});
}

void clip(const KeyRuns& runs, Index keys, KeyRuns& out) {
  out.clear();
  for (const KeyRun& run : runs) appendRun(out, std::max<Index>(run.begin, 0), std::min(run.end, keys));
}

}  // namespace

void RowEvaluator::visibleRuns(const MaskProgram& program, const RowPlace& place, KeyRuns& out) {
  evaluate(program, place, 0, out);
}

RowEvaluator::Level& RowEvaluator::level(std::size_t depth) {
  while (levels_.size() <= depth) levels_.emplace_back();
  return levels_[depth];
}

void RowEvaluator::evaluate(const MaskProgram& program, const RowPlace& place, std::size_t depth,
                            KeyRuns& out) {
  Level& buffers = level(depth);
  RowValue& row = buffers.folded;
  // Uses the caller's buffer to avoid a copy.
  std::swap(row.visible, out);
  fold(program, place, depth);
  if (!row.decidesAll) {
    complement(row.decided, place.keys, buffers.first);
    unite(row.visible, buffers.first, buffers.second);
    std::swap(row.visible, buffers.second);
  }
  std::swap(row.visible, out);
}

void RowEvaluator::fold(const MaskProgram& program, const RowPlace& place, std::size_t depth) {
  Level& buffers = level(depth);
  if (program.empty()) {
    buffers.folded.visible.clear();
    buffers.folded.decided.clear();
    buffers.folded.decidesAll = false;
    return;
  }
  stepValue(program[0], place, depth, buffers.folded);
  for (std::size_t i = 1; i < program.size(); ++i) {
    stepValue(program[i], place, depth, buffers.layer);
    join(program[i].combine, place.keys, buffers);
  }
}

void RowEvaluator::stepValue(const Step& step, const RowPlace& place, std::size_t depth, RowValue& out) {
  out.decidesAll = true;
  if (!step.group.empty()) {
    fold(step.group, place, depth + 1);
    std::swap(out, level(depth + 1).folded);
  } else if (step.rule.cells) {
    cellValue(step.rule, place, out, level(depth));
  } else if (step.rule.pattern->row) {
    out.visible.clear();
    step.rule.pattern->row(step.rule, place, out.visible);
  } else {
    documentRow(step.rule, place, depth + 1, out.visible);
  }
  if (step.negated) negate(out, place.keys, level(depth));
}

void RowEvaluator::documentRow(const Rule& rule, const RowPlace& place, std::size_t depth, KeyRuns& out) {
  const auto& starts = rule.lists->positions;
  const std::size_t document = documentOf(starts, place.position);
  const Index start = starts[document];
  const Index end = document + 1 < starts.size() ? starts[document + 1] : place.keys;
  evaluate(rule.inner, {place.row, place.position - start, end - start, place.cacheLength}, depth, out);
  for (KeyRun& run : out) run = {run.begin + start, run.end + start};
}

void RowEvaluator::cellValue(const Rule& rule, const RowPlace& place, RowValue& out, Level& buffers) {
  const CellTable& table = *rule.cells;
  const auto at = static_cast<std::size_t>(rule.cellHead * table.queries + place.row);
  const CellRow* row = place.row < table.queries && at < table.rows.size() ? table.rows[at].get() : nullptr;
  out.visible.clear();
  out.decided.clear();
  if (row) {
    clip(row->visible, place.keys, out.visible);
    clip(row->masked, place.keys, buffers.first);
    unite(out.visible, buffers.first, out.decided);
  }
  out.decidesAll = coversAll(out.decided, place.keys);
}

void RowEvaluator::negate(RowValue& value, Index keys, Level& buffers) {
  if (value.decidesAll) {
    complement(value.visible, keys, buffers.first);
  } else {
    subtract(value.decided, value.visible, buffers.first);
  }
  std::swap(value.visible, buffers.first);
}

void RowEvaluator::join(Combine combine, Index keys, Level& level) {
  RowValue &before = level.folded, &layer = level.layer;
  if (layer.decidesAll && combine == Combine::replace) {
    std::swap(before, layer);
  } else if (before.decidesAll && layer.decidesAll) {
    const auto operation = combine == Combine::all ? intersect : unite;
    operation(before.visible, layer.visible, level.first);
    std::swap(before.visible, level.first);
  } else {
    for (RowValue* value : {&before, &layer})
      if (value->decidesAll) value->decided.assign(1, {0, keys});
    joinWhereDecided(combine, level);
    before.decidesAll = coversAll(before.decided, keys);
  }
}

void RowEvaluator::joinWhereDecided(Combine combine, Level& level) {
  RowValue &before = level.folded, &layer = level.layer;
  if (combine == Combine::any) {
    unite(before.visible, layer.visible, level.first);
  } else {
    // A cell that only one of the two decides keeps that decision; with "then", the later layer wins.
    subtract(before.visible, layer.decided, level.first);
    if (combine == Combine::replace) {
      unite(level.first, layer.visible, level.second);
    } else {
      intersect(before.visible, layer.visible, level.second);
      unite(level.first, level.second, before.visible);
      subtract(layer.visible, before.decided, level.first);
      unite(before.visible, level.first, level.second);
    }
    std::swap(level.first, level.second);
  }
  std::swap(before.visible, level.first);
  unite(before.decided, layer.decided, level.first);
  std::swap(before.decided, level.first);
}

}  // namespace headscope::attention
