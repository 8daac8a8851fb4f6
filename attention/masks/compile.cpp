#include "attention/masks/compile.h"

#include <fmt/core.h>

#include "attention/masks/patterns/definition.h"
#include "attention/masks/program.h"

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
  const CellRow* row = rule.cells->rowOf(rule.cellHead, place.row);
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

namespace {

bool byDistance(const MaskProgram& program) {
  return std::all_of(program.begin(), program.end(), [](const Step& step) {
    return step.group.empty() ? step.rule.pattern->byDistance : byDistance(step.group);
  });
}

class CompiledMask : public MaskFormula {
 public:
  CompiledMask(MaskPrograms programs, const MaskGeometry& geometry)
      : programs_(std::move(programs)),
        queries_(geometry.queries),
        keys_(geometry.keys),
        cacheLength_(geometry.cacheLength) {}

  Index heads() const override { return static_cast<Index>(programs_.variantOf.size()); }
  Index queries() const override { return queries_; }
  Index keys() const override { return keys_; }
  Index variants() const override { return static_cast<Index>(programs_.variants.size()); }

  Index variantOf(Index head) const override {
    if (head < 0 || head >= heads()) refuse("head", head, heads());
    return programs_.variantOf[static_cast<std::size_t>(head)];
  }

  void visibleRuns(Index variant, Index row, KeyRuns& runs) const override {
    if (variant < 0 || variant >= variants()) refuse("variant", variant, variants());
    if (row < 0 || row >= queries_) refuse("row", row, queries_);
    thread_local RowEvaluator evaluator;
    evaluator.visibleRuns(programs_.variants[static_cast<std::size_t>(variant)],
                          {row, cacheLength_ + row, keys_, cacheLength_}, runs);
  }

  bool dependsOnDistance(Index variant) const override {
    return byDistance(programs_.variants.at(static_cast<std::size_t>(variant)));
  }

 private:
  /// Separate, so that the evaluation of rows builds no text.
  [[noreturn]] static void refuse(const char* what, Index found, Index count) {
    throw std::invalid_argument(fmt::format("mask has no {} {}, expected below {}", what, found, count));
  }

  MaskPrograms programs_;
  Index queries_, keys_, cacheLength_;
};

std::string textOf(const PatternUse& use, std::size_t parameter) {
  return parameter < use.arguments.size() && use.arguments[parameter] ? use.arguments[parameter]->text : "";
}

void gatherFiles(const MaskLayers& layers, std::vector<std::pair<std::string, std::string>>& files) {
  for (const Layer& layer : layers) {
    gatherFiles(layer.group, files);
    if (layer.isGroup()) continue;
    gatherFiles(layer.pattern.inner, files);
    if (layer.pattern.kind != PatternKind::file) continue;
    std::pair file(textOf(layer.pattern, 0), textOf(layer.pattern, 1));
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(std::move(file));
  }
}

bool namesAHead(const HeadSet& set, const MaskGeometry& geometry) {
  for (Index head = 0; head < geometry.heads; ++head)
    if (set.contains(head, geometry.kvHeadOf(head))) return true;
  return false;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> filesOf(const MaskLayers& layers) {
  std::vector<std::pair<std::string, std::string>> files;
  gatherFiles(layers, files);
  return files;
}

Result<std::shared_ptr<const MaskFormula>> compileMask(const MaskLayers& layers, const MaskGeometry& geometry,
                                                       const MaskSources& sources) {
  require(geometry.queries >= 0 && geometry.keys >= 0 && geometry.cacheLength >= 0,
          "a mask's sizes must not be negative");
  require(geometry.heads >= 1 && geometry.kvHeads >= 1, "a mask needs heads");
  auto programs = resolveMask(layers, geometry, sources);
  if (!programs) return programs.error();
  return std::shared_ptr<const MaskFormula>(
      std::make_shared<const CompiledMask>(std::move(programs).value(), geometry));
}

std::string omittedReason(const Layer& layer, const MaskGeometry& geometry) {
  if (!layer.on) return "switched off";
  // Sequences have no kv heads.
  if (layer.sequences && !layer.sequences->contains(geometry.sequence, -1))
    return fmt::format("for sequences other than {}", geometry.sequence);
  if (layer.heads && !namesAHead(*layer.heads, geometry)) return "for heads that don't exist";
  if (layer.isGroup()) {
    std::string first;
    for (const Layer& inner : layer.group) {
      std::string reason = omittedReason(inner, geometry);
      if (reason.empty()) return "";
      if (first.empty()) first = std::move(reason);
    }
    return first;
  }
  return "";
}

std::vector<OmittedLayer> omittedLayers(const MaskLayers& layers, const MaskGeometry& geometry) {
  std::vector<OmittedLayer> omitted;
  for (const Layer& layer : layers) {
    if (std::string reason = omittedReason(layer, geometry); !reason.empty()) {
      omitted.push_back({layerText(layer), std::move(reason)});
      continue;
    }
    for (OmittedLayer& inner : omittedLayers(layer.isGroup() ? layer.group : layer.pattern.inner, geometry))
      omitted.push_back(std::move(inner));
  }
  return omitted;
}

bool comparesPositions(const MaskLayers& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const Layer& layer) {
    if (!layer.on) return false;
    return layer.isGroup() ? comparesPositions(layer.group) : infoOf(layer.pattern.kind).comparesPositions;
  });
}

std::string positionRule(Index queries, Index keys, Index cacheLength) {
  return fmt::format("causal masks compare positions, j ≤ i; with {} over {}, the first query is at i = {}",
                     counted(queries, "query"), counted(keys, "key"), cacheLength);
}

}  // namespace headscope::attention
