#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string_view>

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

/// Why an evaluation ended. The caller adds the column of the node being evaluated.
struct EvaluationFault {
  std::string message;
};

/// Tracks what one evaluation has used and reads values for it. Its functions throw EvaluationFault.
class Evaluation {
 public:
  /// The most values processed at once.
  static constexpr Index kBlock = 2048;

  Evaluation(const ExpressionLimits& limits, std::stop_token stop)
      : limits_(limits), stop_(std::move(stop)) {}

  /// Counts `values` reads against the limit. Call before reading.
  void visit(Index values);
  /// Counts storage for `values` results against the limit. Call before allocating.
  void allocate(Index values);
  void checkStop() const;

  /// Passes the values to `take` in row-major order, at most kBlock at a time.
  void forEachBlock(const Array& array,
                    const std::function<void(const double*, Index begin, Index count)>& take);
  /// Returns the array with its values stored; computed values are evaluated once.
  Array kept(const Array& array);
  /// Returns all values, for code that sorts or factors them.
  std::vector<double> values(const Array& array);

 private:
  const ExpressionLimits limits_;
  const std::stop_token stop_;
  std::uint64_t visits_ = 0, bytes_ = 0;
};

/// Returns the shape all parts broadcast to. Throws EvaluationFault if they don't match.
ArrayShape commonShape(std::span<const Array> parts);

// Elementwise results are computed when they are read; reading them may throw EvaluationFault.

/// Returns part₀ ∘ part₁ ∘ …, evaluated from the left.
Array joined(Evaluation& run, std::vector<Array> parts, const std::vector<BinaryOperator>& joins);
/// Applies f to every value.
Array mapped(Evaluation& run, const Array& part, double (*f)(double));
Array negated(Evaluation& run, const Array& part);

/// The arguments of a function.
using Arguments = std::span<const Array>;
/// Returns values of the second argument where the first, a condition, is nonzero, and of the third
/// elsewhere.
Array chosen(Evaluation& run, Arguments arguments);

/// Evaluates the brackets that follow a base; `parts` are the node's values, the base first.
Array picked(Evaluation& run, const std::vector<AxisPick>& picks, const std::vector<Array>& parts);

/// Formats a number for a message: "0.25", "NaN", "-inf".
std::string numberWords(double value);
/// Rounds to a whole number. Throws if `value` is not within 10⁻⁶ of one; `what` begins the message.
Index wholeNumber(double value, const std::string& what);
/// Returns the axis of `of` that a number names; negative numbers count from the last axis.
std::size_t axisOf(const Array& number, const Array& of);
/// Returns the single number in an array of any shape. Throws if it doesn't have exactly one value.
double numberOf(const Array& array, const std::string& what);

/// An entry in the language's table of functions.
struct ExpressionFunction {
  std::string_view name;
  std::string_view arguments;  ///< "x[, axis]"; those in brackets are optional
  int least, most;
  Array (*apply)(Evaluation& run, Arguments arguments);
  std::string_view help;  ///< one sentence
};

/// Parses an expression. Throws SyntaxError.
ExpressionNode parseExpression(std::string_view text);

std::span<const ExpressionFunction> functionTable();
/// Returns null if the language has no function of that name.
const ExpressionFunction* findFunction(std::string_view name);
/// Throws SyntaxError if a call has too few or too many arguments, or is the misleading count(unique(…)).
void checkCall(const ExpressionNode& call);

// The implementations of the functions. An axis is always the last argument.

/// How the values of an axis, or all values, are reduced to one. The first five need at least one value.
enum class Fold { mean, deviation, least, most, argmax, sum, norm, entropy, count, any, all };
Array folded(Evaluation& run, const Array& of, std::optional<std::size_t> axis, Fold fold);

/// Returns e^x ÷ Σ e^x along an axis; 0 where the whole axis is −inf.
Array softmaxOf(Evaluation& run, const Array& of, std::size_t axis);
Array uniqueValues(Evaluation& run, Arguments arguments);
/// Returns the ranks of the matrices in the last two axes: the number of singular values above largest ·
/// longer side · float epsilon, as NumPy does for float matrices.
Array ranks(Evaluation& run, Arguments arguments);
/// Multiplies the matrices in the last two axes; the other axes broadcast.
Array matrixProduct(Evaluation& run, Arguments arguments);

}  // namespace headscope::attention
