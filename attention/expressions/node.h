#pragma once

#include <string>
#include <vector>

#include "attention/expressions/array.h"

namespace headscope::attention {

struct ExpressionFunction;

/// How two values are combined; the operators from `equal` on are conditions.
enum class BinaryOperator {
  add,
  subtract,
  multiply,
  divide,
  power,
  equal,
  unequal,
  less,
  lessEqual,
  more,
  moreEqual,
  both,
  either
};

/// How one axis is indexed. `first` and `end` are indices into the node's parts, −1 if omitted.
struct AxisPick {
  enum class Kind { place, slice, newAxis } kind = Kind::place;
  int first = -1, end = -1;
};

/// A node of the syntax tree. A chain such as a − b + c is one node, so the tree is no deeper than the text's
/// brackets.
struct ExpressionNode {
  enum class Kind { number, text, name, list, chain, negative, call, foreignCall, pick };

  Kind kind = Kind::number;
  std::size_t begin = 0, end = 0;  ///< byte range in the text
  double number = 0;
  std::string word;                              ///< name, function, or quoted text
  std::vector<BinaryOperator> joins;             ///< for a chain: one fewer than its parts
  std::vector<AxisPick> picks;                   ///< applied to the first part
  const ExpressionFunction* function = nullptr;  ///< for a call
  std::vector<ExpressionNode> parts;
};

}  // namespace headscope::attention
