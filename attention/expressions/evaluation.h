#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "attention/expressions/limits.h"
#include "attention/expressions/node.h"

namespace headscope::attention {

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
/// Returns values of `yes` where the condition is nonzero, and of `no` elsewhere.
Array chosen(Evaluation& run, const Array& condition, const Array& yes, const Array& no);

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

}  // namespace headscope::attention
