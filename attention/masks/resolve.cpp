#include <algorithm>
#include <map>
#include <utility>

#include "attention/masks/program.h"
#include "attention/masks/resolve_lists.h"

namespace headscope::attention {
namespace {

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

class Resolver {
 public:
  Resolver(const MaskGeometry& geometry, const MaskSources& sources)
      : geometry_(geometry), sources_(sources) {}

  Result<MaskProgram> program(const MaskLayers& layers, Index head) {
    MaskProgram steps;
    for (const Layer& layer : layers) {
      if (!applies(layer, head)) continue;
      Step step{layer.combine, layer.negated, {}, {}};
      if (layer.isGroup()) {
        auto group = program(layer.group, head);
        if (!group) return group.error();
        if (group->empty()) continue;
        step.group = std::move(group).value();
      } else {
        auto rule = ruleOf(layer.pattern, head);
        if (!rule) return rule.error();
        if (isTable(rule->kind) && !rule->cells) continue;
        step.rule = std::move(rule).value();
      }
      steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  static bool isTable(PatternKind kind) { return kind == PatternKind::painted || kind == PatternKind::file; }

  bool applies(const Layer& layer, Index head) const {
    if (!layer.on) return false;
    if (layer.heads && !layer.heads->contains(head, geometry_.kvHeadOf(head))) return false;
    // Sequences have no kv heads.
    if (layer.sequences && !layer.sequences->contains(geometry_.sequence, -1)) return false;
    return layer.isGroup() || !geometry_.cross || !infoOf(layer.pattern.kind).comparesPositions;
  }

  Result<Rule> ruleOf(const PatternUse& use, Index head) {
    if (insideDocuments_)
      if (auto status = checkInside(use.kind); !status) return status.error();
    Rule rule;
    rule.kind = use.kind;
    if (auto status = fillCounts(use, head, rule); !status) return status.error();
    if (isTable(use.kind)) {
      auto status = use.kind == PatternKind::file ? fillFile(use, head, rule) : fillPainting(use, head, rule);
      return status ? Result<Rule>(std::move(rule)) : status.error();
    }
    auto lists = listsOf(use, use.kind == PatternKind::tree ? rule.counts[0] : 0);
    if (!lists) return lists.error();
    rule.lists = std::move(lists).value();
    if (use.kind == PatternKind::documents) {
      insideDocuments_ = true;
      auto inner = program(use.inner, head);
      insideDocuments_ = false;
      if (!inner) return inner.error();
      rule.inner = std::move(inner).value();
    }
    return rule;
  }

  static Status checkInside(PatternKind kind) {
    const PatternInfo& info = infoOf(kind);
    const bool readsMarks = std::any_of(info.parameters.begin(), info.parameters.end(),
                                        [](const ParameterInfo& parameter) { return parameter.fromText; });
    if (!readsMarks && !isTable(kind)) return success();
    return Error{"documents(…) holds " + std::string(info.name) +
                 ", which lies over the whole text; expected " + "a pattern that goes by positions alone"};
  }

  Status fillCounts(const PatternUse& use, Index head, Rule& rule) const {
    const auto parameters = infoOf(use.kind).parameters;
    std::size_t slot = 0;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (parameters[k].kind != ParameterKind::count) continue;
      auto count = countOf(use, k, head);
      if (!count) return count.error();
      rule.counts[slot++] = *count;
    }
    return success();
  }

  Result<Index> countOf(const PatternUse& use, std::size_t parameter, Index head) const {
    const ParameterInfo& info = infoOf(use.kind).parameters[parameter];
    const Argument* given = argumentOf(use, parameter);
    if (!given) return info.fromText ? countFromText(use.kind, info.name) : info.standard;
    const std::string title = parameterTitle(use, parameter);
    if (given->values.empty()) return Error{title + " has no value, expected at least one"};
    const Index value = given->values[static_cast<std::size_t>(head) % given->values.size()];
    if (value < info.low || value > info.high)
      return Error{title + " is " + std::to_string(value) + ", expected " + std::to_string(info.low) +
                   " to " + std::to_string(info.high)};
    if (info.name == "prefix" && value > geometry_.keys)
      return Error{title + " is " + std::to_string(value) + ", but there are " +
                   std::to_string(geometry_.keys) + " keys"};
    return value;
  }

  Index countFromText(PatternKind kind, std::string_view name) const {
    const TextStructure& text = geometry_.structure;
    if (kind == PatternKind::padding) return std::clamp<Index>(geometry_.keyLength, 0, geometry_.keys);
    if (kind == PatternKind::prefixLm) return std::clamp<Index>(text.prefixLength, 0, geometry_.keys);
    if (kind == PatternKind::tree) return std::clamp<Index>(text.treePrefix, 0, geometry_.keys);
    if (kind == PatternKind::blockDiffusion) return std::max<Index>(1, geometry_.keys / 2);
    return std::clamp<Index>(name == "height" ? text.gridHeight : text.gridWidth, 1, kMaxMaskCount);
  }

  /// Worked out once for all heads.
  Result<std::shared_ptr<const RuleLists>> listsOf(const PatternUse& use, Index prefix) {
    const auto known = lists_.find({&use, prefix});
    if (known != lists_.end()) return known->second;
    auto lists = resolveLists(use, geometry_, prefix);
    if (lists) lists_[{&use, prefix}] = *lists;
    return lists;
  }

  /// Leaves `rule` without cells where the table has none for this head.
  static void fillCells(const std::shared_ptr<const CellTable>& cells, Index head, Rule& rule) {
    if (cells->heads != 1 && head >= cells->heads) return;
    rule.cells = cells;
    rule.cellHead = cells->heads == 1 ? 0 : head;
  }

  Status fillPainting(const PatternUse& use, Index head, Rule& rule) const {
    const Argument* name = argumentOf(use, 0);
    if (!name || name->text.empty()) return Error{"painted has no name, expected painted(\"…\")"};
    const auto found = sources_.paintings.find(name->text);
    if (found == sources_.paintings.end() || !found->second)
      return Error{"there is no painting " + quoted(name->text)};
    fillCells(found->second, head, rule);
    return success();
  }

  Status fillFile(const PatternUse& use, Index head, Rule& rule) const {
    const Argument *path = argumentOf(use, 0), *convention = argumentOf(use, 1);
    if (!path || !convention || path->text.empty())
      return Error{"file has no path or no convention, expected file(\"…\", visible), masked or additive"};
    const auto found = sources_.files.find(fileKey(path->text, convention->text));
    if (found == sources_.files.end() || !found->second)
      return Error{path->text + " has not been read as " + convention->text};
    const CellTable& cells = *found->second;
    if (cells.queries != geometry_.queries || cells.keys != geometry_.keys)
      return Error{path->text + " is " + sizeText(cells.queries, cells.keys) + ", expected " +
                   sizeText(geometry_.queries, geometry_.keys)};
    if (cells.heads != 1 && cells.heads != geometry_.heads)
      return Error{path->text + " has " + std::to_string(cells.heads) + " heads, expected 1 or " +
                   std::to_string(geometry_.heads)};
    fillCells(found->second, head, rule);
    return success();
  }

  static std::string sizeText(Index queries, Index keys) {
    return std::to_string(queries) + " × " + std::to_string(keys);
  }

  const MaskGeometry& geometry_;
  const MaskSources& sources_;
  std::map<std::pair<const PatternUse*, Index>, std::shared_ptr<const RuleLists>> lists_;
  bool insideDocuments_ = false;
};

const CellRow& rowOf(const CellTable& table, Index head, Index row) {
  static const CellRow kLeftAlone;
  const auto at = static_cast<std::size_t>(head * table.queries + row);
  return row < table.queries && at < table.rows.size() && table.rows[at] ? *table.rows[at] : kLeftAlone;
}

/// Whether both rules read the same cells, whatever table these are kept in.
bool sameCells(const Rule& a, const Rule& b) {
  if (!a.cells || !b.cells) return a.cells == b.cells;
  if (a.cells == b.cells && a.cellHead == b.cellHead) return true;
  const Index rows = std::max(a.cells->queries, b.cells->queries);
  for (Index row = 0; row < rows; ++row) {
    const CellRow &left = rowOf(*a.cells, a.cellHead, row), &right = rowOf(*b.cells, b.cellHead, row);
    if (&left != &right && left != right) return false;
  }
  return true;
}

}  // namespace

bool Rule::operator==(const Rule& other) const {
  const bool sameLists = lists == other.lists || (lists && other.lists && *lists == *other.lists);
  return kind == other.kind && counts == other.counts && sameLists && sameCells(*this, other) &&
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
