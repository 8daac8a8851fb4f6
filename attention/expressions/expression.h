#pragma once

#include <span>
#include <stop_token>
#include <string_view>

#include "attention/core/result.h"
#include "attention/expressions/array.h"

namespace headscope::attention {

struct ExpressionNode;

/// An argument of a host function: quoted text, or values.
struct ExpressionArgument {
  std::optional<std::string> text;
  Array array;
};

/// Resolves the names in expressions. Called only for names that are used.
class ExpressionNames {
 public:
  virtual ~ExpressionNames() = default;
  /// Returns the value of a name, plain ("W") or dotted ("open.W"). The error says what is wrong with the
  /// name.
  virtual Result<Array> value(const std::string& name) const = 0;
  /// Calls a host function, that is, one the language itself doesn't have.
  virtual Result<Array> call(const std::string& function,
                             std::span<const ExpressionArgument> arguments) const = 0;
};

/// A name used in an expression, and its position.
struct UsedName {
  std::string name;
  std::size_t column = 1;  ///< of its first byte, counted from 1
  bool function = false;   ///< whether it is a host function
  bool operator==(const UsedName&) const = default;
};

/// Arithmetic, comparisons, slices and functions on arrays, without loops or file access. The manual's
/// chapter on lessons (assets/manual/lessons.md) describes the syntax. Arrays broadcast as in NumPy.
/// Immutable: any number of threads may evaluate the same expression.
class Expression {
 public:
  static constexpr std::size_t kMaxBytes = 4096;

  /// The expression "0".
  Expression();
  /// Parses `text`. Returns an Error naming the column (in bytes, from 1) if the text is malformed, longer
  /// than kMaxBytes or nested deeper than kMaxExpressionDepth, or if a function has too few or too many
  /// arguments.
  static Result<Expression> parse(std::string_view text);

  /// Returns the row-major values of the result; a plain view of borrowed floats copies nothing. Returns an
  /// Error, a sentence with the column, if `names` rejects a name, shapes don't match, an index is out of
  /// range, a condition contains NaN, or the work exceeds `limits`; "stopped" (without a column) if `stop`
  /// was requested.
  Result<Array> evaluate(const ExpressionNames& names, const ExpressionLimits& limits = {},
                         std::stop_token stop = {}) const;
  /// Whether every value of the result is nonzero.
  Result<bool> holds(const ExpressionNames& names, const ExpressionLimits& limits = {},
                     std::stop_token stop = {}) const;

  const std::string& text() const { return text_; }
  /// Returns every name and host function, once each, in the order of the text.
  std::vector<UsedName> names() const;
  bool operator==(const Expression& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::shared_ptr<const ExpressionNode> root_;
};

/// A built-in function: its name, its arguments ("x[, axis]"), and one sentence about it.
struct ExpressionFunctionInfo {
  std::string_view name, arguments, help;
};
std::vector<ExpressionFunctionInfo> expressionFunctions();

}  // namespace headscope::attention
