#include "tests/attention/masks/symbolic_cells.h"

#include "attention/masks/patterns/definition.h"

namespace headscope::attention::test {

SymbolicCells::SymbolicCells(const Rule& rule, const CodeSizes& sizes)
    : rule_(rule), sizes_(sizes), tree_(rule.pattern->visible(query(), key())) {}

bool SymbolicCells::says(Index row, Index key) const {
  return !rule_.cells || kCells.value(rule_, placeOf(row), row, key) != 0;
}

Index SymbolicCells::value(const Symbolic& node, const RowPlace& place, Index key) const {
  std::array<Index, 3> operands{};
  for (std::size_t k = 0; k < node.operands.size(); ++k) {
    const bool joined = node.operation == &operations::both || node.operation == &operations::either;
    operands[k] = value(node.operands[k], place, key);
    // Like a reader, doesn't evaluate the second operand if the first one decides.
    if (joined && k == 0 && (operands[0] != 0) == (node.operation == &operations::either)) return operands[0];
  }
  switch (node.kind) {
    case Symbolic::Kind::query:
      return place.position;
    case Symbolic::Kind::key:
      return key;
    case Symbolic::Kind::row:
      return place.row;
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
      return node.operation->value(operands[0], operands[1], operands[2]);
    case Symbolic::Kind::lookup:
      return node.table->value(rule_, place, operands[0], operands[1]);
    case Symbolic::Kind::words:
      return operands[0];
  }
  return 0;
}

Index SymbolicCells::countOf(std::string_view parameter) const {
  std::size_t slot = 0;
  for (const ParameterInfo& info : rule_.pattern->info.parameters) {
    if (info.kind != ParameterKind::count) continue;
    if (info.name == parameter) return rule_.counts[slot];
    ++slot;
  }
  throw std::logic_error("no count " + std::string(parameter));
}

}  // namespace headscope::attention::test
