#include "attention/masks/code.h"
#include "attention/masks/patterns/definition.h"

namespace headscope::attention {
namespace {

/// Whether a node is never negative: positions, and their quotients and remainders.
bool isNatural(const Symbolic& node) {
  using Kind = Symbolic::Kind;
  if (node.kind == Kind::query || node.kind == Kind::key || node.kind == Kind::row) return true;
  const bool divided = node.operation == &operations::quotient || node.operation == &operations::remainder;
  return divided && isNatural(node.operands[0]);
}

}  // namespace

CodeCells RuleCode::write() {
  const Pattern& pattern = *rule_.pattern;
  CodeCells cells{write(pattern.visible(query(), key())), {}, true};
  if (!rule_.cells || cellsDecideAll(rule_, sizes_)) return cells;
  cells.decided = write(at(kCells, row(), key()) != 0);
  cells.decidesAll = false;
  return cells;
}

const std::string& RuleCode::nameOf(const LookupTable& table) {
  const auto [entry, isNew] = names_.try_emplace(&table);
  if (!isNew) return entry->second;
  const std::string definition = table.define({rule_, dialect_, sizes_, place_.starts});
  if (!definition.empty()) entry->second = tables_.define(std::string(table.name), definition);
  return entry->second;
}

/// Writes constants as comparisons too, because the code needs an array of truths.
Written RuleCode::write(const Truth& truth) {
  const auto value = known(truth.node);
  if (value) return {place_.j + (*value != 0 ? " >= 0" : " < 0"), Precedence::compare};
  return write(truth.node);
}

Written RuleCode::write(const Symbolic& node) {
  if (const auto value = known(node)) return {std::to_string(*value)};
  switch (node.kind) {
    case Symbolic::Kind::query:
      return {place_.i};
    case Symbolic::Kind::key:
      return {place_.j};
    case Symbolic::Kind::row:
      return {"q_idx"};
    case Symbolic::Kind::operation:
      return writeOperation(node);
    case Symbolic::Kind::lookup:
      return writeLookup(node);
    case Symbolic::Kind::words:
      return write(node.operands[0]);
    case Symbolic::Kind::cached:
    case Symbolic::Kind::positions:
    case Symbolic::Kind::always:
    case Symbolic::Kind::literal:
    case Symbolic::Kind::parameter:
      break;
  }
  require(false, "a constant of a formula has no value");
  return {};
}

Written RuleCode::writeOperation(const Symbolic& node) {
  const auto& operands = node.operands;
  const bool joins = node.operation == &operations::both || node.operation == &operations::either;
  // A known operand that doesn't decide the result leaves it to the other one.
  if (joins && known(operands[0])) return write(operands[1]);
  if (joins && known(operands[1])) return write(operands[0]);
  if (node.operation == &operations::minus && known(operands[1]) == 0) return write(operands[0]);
  std::vector<Written> parts;
  for (const Symbolic& operand : operands) parts.push_back(write(operand));
  return written(node.operation->python, parts);
}

Written RuleCode::writeLookup(const Symbolic& node) {
  std::string index = node.table->perDocument ? place_.document : "";
  for (const Symbolic& operand : node.operands) index += (index.empty() ? "" : ", ") + write(operand).text;
  return {nameOf(*node.table) + "[" + index + "]"};
}

std::optional<Index> RuleCode::known(const Symbolic& node) {
  switch (node.kind) {
    case Symbolic::Kind::query:
    case Symbolic::Kind::key:
    case Symbolic::Kind::row:
      return std::nullopt;
    case Symbolic::Kind::cached:
      return sizes_.cacheLength;
    case Symbolic::Kind::positions:
      return sizes_.positions();
    case Symbolic::Kind::always:
      return 1;
    case Symbolic::Kind::literal:
      return node.number;
    case Symbolic::Kind::parameter:
      return countOf(node.name);
    case Symbolic::Kind::operation:
      return knownOperation(node);
    case Symbolic::Kind::lookup:
      return nameOf(*node.table).empty() ? std::optional<Index>(0) : std::nullopt;
    case Symbolic::Kind::words:
      return known(node.operands[0]);
  }
  return std::nullopt;
}

std::optional<Index> RuleCode::knownOperation(const Symbolic& node) {
  std::array<std::optional<Index>, 3> values;
  bool all = true;
  for (std::size_t k = 0; k < node.operands.size(); ++k) {
    values[k] = known(node.operands[k]);
    all = all && values[k];
  }
  const auto& [a, b, c] = values;
  if (all) return node.operation->value(a.value_or(0), b.value_or(0), c.value_or(0));
  if (node.operation == &operations::both && (a == 0 || b == 0)) return 0;
  if (node.operation == &operations::either && (a.value_or(0) != 0 || b.value_or(0) != 0)) return 1;
  if (node.operation == &operations::less && b && *b <= 0 && isNatural(node.operands[0])) return 0;
  return std::nullopt;
}

Index RuleCode::countOf(std::string_view parameter) const {
  std::size_t slot = 0;
  for (const ParameterInfo& info : rule_.pattern->info.parameters) {
    if (info.name == parameter) return rule_.counts[slot];
    if (info.kind == ParameterKind::count) ++slot;
  }
  require(false, "a formula names a parameter that its pattern lacks: " + std::string(parameter));
  return 0;
}

}  // namespace headscope::attention
