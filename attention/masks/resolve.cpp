#include <fmt/core.h>

#include "attention/masks/patterns/definition.h"
#include "attention/masks/program.h"

namespace headscope::attention {
namespace {

bool sameRow(const CellRow* a, const CellRow* b) {
  static const CellRow kLeftAlone;
  return a == b || (a ? *a : kLeftAlone) == (b ? *b : kLeftAlone);
}

}  // namespace

bool CellTable::operator==(const CellTable& other) const {
  return heads == other.heads && queries == other.queries && keys == other.keys &&
         std::equal(rows.begin(), rows.end(), other.rows.begin(), other.rows.end(),
                    [](const auto& a, const auto& b) { return sameRow(a.get(), b.get()); });
}

std::string fileKey(const std::string& path, const std::string& convention) {
  return path + "\n" + convention;
}

namespace {

class Resolver {
 public:
  Resolver(const MaskGeometry& geometry, const MaskSources& sources)
      : geometry_(geometry), sources_(sources) {}

  Result<MaskProgram> program(const MaskLayers& layers, Index head) {
    MaskProgram steps;
    for (const Layer& layer : layers) {
      if (!layer.appliesTo(head, geometry_.kvHeadOf(head), geometry_.sequence)) continue;
      Step step{layer.combine, layer.negated, {}, {}};
      if (layer.isGroup()) {
        auto group = program(layer.group, head);
        if (!group) return group.error();
        if (group->empty()) continue;
        step.group = std::move(group).value();
      } else {
        auto rule = ruleOf(layer.pattern, head);
        if (!rule) return rule.error();
        if (rule->pattern->cells && !rule->cells) continue;
        step.rule = std::move(rule).value();
      }
      steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  Result<Rule> ruleOf(const PatternUse& use, Index head) {
    const Pattern& pattern = patternOf(use.kind);
    if (insideDocuments_)
      if (auto status = checkInside(pattern, use); !status) return status.error();
    Rule rule;
    rule.pattern = &pattern;
    Given given{pattern.info, use, geometry_, sources_};
    if (auto status = fillCounts(given, head); !status) return status.error();
    rule.counts = given.counts;
    if (pattern.cells) {
      auto cells = pattern.cells(given);
      if (!cells) return cells.error();
      fillCells(*cells, head, rule);
    }
    if (pattern.lists) {
      auto lists = listsOf(pattern, given);
      if (!lists) return lists.error();
      rule.lists = std::move(lists).value();
    }
    if (pattern.info.takesInner) {
      insideDocuments_ = true;
      auto inner = program(use.inner, head);
      insideDocuments_ = false;
      if (!inner) return inner.error();
      rule.inner = std::move(inner).value();
    }
    return rule;
  }

  /// Inside a document, positions and given arguments are relative to its start, but values from the text are
  /// relative to the text's start.
  static Status checkInside(const Pattern& pattern, const PatternUse& use) {
    const PatternInfo& info = pattern.info;
    const std::string found = "documents(…) holds " + std::string(info.name);
    if (pattern.cells || info.takesInner)
      return Error{found +
                   ", which covers the whole text; expected a pattern that restarts in each document"};
    for (std::size_t k = 0; k < info.parameters.size(); ++k) {
      const ParameterInfo& parameter = info.parameters[k];
      const bool given = k < use.arguments.size() && use.arguments[k];
      if (given || !parameter.fromText) continue;
      return Error{
          fmt::format("{} without its {}, which is otherwise taken from the whole text; expected {}({}=…)",
                      found, parameter.name, info.name, parameter.name)};
    }
    return success();
  }

  static Status fillCounts(Given& given, Index head) {
    std::size_t slot = 0;
    for (std::size_t k = 0; k < given.info.parameters.size(); ++k) {
      if (given.info.parameters[k].kind != ParameterKind::count) continue;
      auto count = given.count(k, head);
      if (!count) return count.error();
      given.counts[slot++] = *count;
    }
    return success();
  }

  /// Computed once for all heads with the same counts.
  Result<std::shared_ptr<const RuleLists>> listsOf(const Pattern& pattern, const Given& given) {
    auto& known = lists_[{&given.use, given.counts}];
    if (!known) {
      auto lists = pattern.lists(given);
      if (!lists) return lists.error();
      known = std::make_shared<const RuleLists>(std::move(lists).value());
    }
    return known;
  }

  /// Leaves `rule` without cells if the table has none for this head.
  static void fillCells(const std::shared_ptr<const CellTable>& cells, Index head, Rule& rule) {
    if (cells->heads != 1 && head >= cells->heads) return;
    rule.cells = cells;
    rule.cellHead = cells->heads == 1 ? 0 : head;
  }

  const MaskGeometry& geometry_;
  const MaskSources& sources_;
  std::map<std::pair<const PatternUse*, std::array<Index, 5>>, std::shared_ptr<const RuleLists>> lists_;
  bool insideDocuments_ = false;
};

/// Whether both rules have equal cells, even if they are in different tables.
bool sameCells(const Rule& a, const Rule& b) {
  if (!a.cells || !b.cells) return a.cells == b.cells;
  if (a.cells == b.cells && a.cellHead == b.cellHead) return true;
  const Index rows = std::max(a.cells->queries, b.cells->queries);
  for (Index row = 0; row < rows; ++row)
    if (!sameRow(a.cells->rowOf(a.cellHead, row), b.cells->rowOf(b.cellHead, row))) return false;
  return true;
}

}  // namespace

bool Rule::operator==(const Rule& other) const {
  const bool sameLists = lists == other.lists || (lists && other.lists && *lists == *other.lists);
  return pattern == other.pattern && counts == other.counts && sameLists && sameCells(*this, other) &&
         inner == other.inner;
}

bool Step::operator==(const Step& other) const {
  return combine == other.combine && negated == other.negated && rule == other.rule && group == other.group;
}

Result<MaskPrograms> resolveMask(const MaskLayers& layers, const MaskGeometry& geometry,
                                 const MaskSources& sources) {
  Resolver resolver(geometry, sources);
  MaskPrograms programs;
  for (Index head = 0; head < geometry.heads; ++head) {
    auto program = resolver.program(layers, head);
    if (!program) return program.error();
    auto& variants = programs.variants;
    const auto same = std::find(variants.begin(), variants.end(), *program);
    programs.variantOf.push_back(same - variants.begin());
    if (same == variants.end()) variants.push_back(std::move(program).value());
  }
  return programs;
}

}  // namespace headscope::attention
