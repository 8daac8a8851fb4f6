#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/expressions/array.h"
#include "attention/expressions/limits.h"

namespace headscope::attention {

struct ExpressionNode;

/// What a function of the surroundings is given: a text in quotes, or values.
struct ExpressionArgument {
  std::optional<std::string> text;
  Array array;
};

/// What the names in expressions stand for. Asked only for what is used.
class ExpressionNames {
 public:
  virtual ~ExpressionNames() = default;
  /// The value of a name, "W" or with a point "open.W". The error says what is wrong with it.
  virtual Result<Array> value(const std::string& name) const = 0;
  /// A function that the language doesn't have.
  virtual Result<Array> call(const std::string& function,
                             std::span<const ExpressionArgument> arguments) const = 0;
};

/// A name that an expression uses, and where it stands.
struct UsedName {
  std::string name;
  std::size_t column = 1;  ///< of its first byte, counted from 1
  bool function = false;   ///< of the surroundings
  bool operator==(const UsedName&) const = default;
};

/// Arithmetic, comparisons, slices and functions on arrays, without loops and files; the grammar stands in
/// the README. Arrays are repeated to each other's shape as NumPy does it. Immutable: any number of threads
/// may evaluate one.
class Expression {
 public:
  static constexpr std::size_t kMaxBytes = 4096;

  /// 0.
  Expression();
  /// Errors name the column, counted in bytes from 1: what can't be read, more than kMaxBytes, deeper than
  /// kMaxExpressionDepth, functions with too few or too many arguments.
  static Result<Expression> parse(std::string_view text);

  /// Row-major values of what it comes to; floats that only were picked out stay where they lie. Errors, in
  /// a sentence with the column: what `names` refuses, shapes that don't fit, an index out of range, NaN in a
  /// condition, more work than `limits` allow; "stopped".
  Result<Array> evaluate(const ExpressionNames& names, const ExpressionLimits& limits = {},
                         std::stop_token stop = {}) const;
  /// Whether all of what it comes to is other than 0.
  Result<bool> holds(const ExpressionNames& names, const ExpressionLimits& limits = {},
                     std::stop_token stop = {}) const;

  const std::string& text() const { return text_; }
  /// Every name and foreign function, once each, in the order of the text.
  std::vector<UsedName> names() const;
  bool operator==(const Expression& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::shared_ptr<const ExpressionNode> root_;
};

/// A function of the language, for the README and the tests: "max(x, axis)" and one sentence.
struct ExpressionFunctionInfo {
  std::string_view name, arguments, help;
};
std::vector<ExpressionFunctionInfo> expressionFunctions();

}  // namespace headscope::attention
