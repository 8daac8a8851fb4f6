#pragma once

#include <string>
#include <vector>

#include "attention/expressions/array.h"

namespace headscope::attention {

struct ExpressionFunction;

/// What joins two values; from `equal` on they are conditions.
enum class Join {
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

/// How one axis is picked from: operands by their place among the node's parts, −1 where they are left out.
struct AxisPick {
  enum class Kind { place, slice, newAxis } kind = Kind::place;
  int first = -1, end = -1;
};

/// A part of an expression. Chains such as a − b + c are one node, so that the tree is no deeper than the
/// text's brackets.
struct ExpressionNode {
  enum class Kind { number, text, name, list, chain, negative, call, foreignCall, pick };

  Kind kind = Kind::number;
  std::size_t begin = 0, end = 0;  ///< bytes of the text
  double number = 0;
  std::string word;                              ///< name, function or text
  std::vector<Join> joins;                       ///< of a chain: one less than its parts
  std::vector<AxisPick> picks;                   ///< of the first part
  const ExpressionFunction* function = nullptr;  ///< of a call
  std::vector<ExpressionNode> parts;
};

}  // namespace headscope::attention
