#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "attention/expressions/limits.h"
#include "attention/expressions/node.h"

namespace headscope::attention {

/// Why an evaluation ended. The node whose turn it was adds its column.
struct EvaluationFault {
  std::string message;
};

/// What one evaluation has used, and the values it reads. Its functions throw EvaluationFault.
class Evaluation {
 public:
  /// Values that are worked on at once.
  static constexpr Index kBlock = 2048;

  Evaluation(const ExpressionLimits& limits, std::stop_token stop)
      : limits_(limits), stop_(std::move(stop)) {}

  /// Before so many values are read.
  void visit(Index values);
  /// Before so many are kept.
  void allocate(Index values);
  void checkStop() const;

  /// Row-major values in order, at most kBlock at a time.
  void forEachBlock(const Array& array,
                    const std::function<void(const double*, Index begin, Index count)>& take);
  /// The same values, where they are computed made once and kept.
  Array kept(const Array& array);
  /// All values, for those who sort and factor them.
  std::vector<double> values(const Array& array);

 private:
  const ExpressionLimits limits_;
  const std::stop_token stop_;
  std::uint64_t visits_ = 0, bytes_ = 0;
};

/// The shape that all are repeated to. Throws EvaluationFault where they don't fit.
ArrayShape commonShape(std::span<const Array> parts);

// Elementwise results are computed when they are read; the evaluation has to outlive them.

/// part₀ ∘ part₁ ∘ …, from the left.
Array joined(Evaluation& run, std::vector<Array> parts, const std::vector<Join>& joins);
/// f of every value.
Array mapped(Evaluation& run, const Array& part, double (*f)(double));
Array negated(Evaluation& run, const Array& part);
/// Where the condition is other than 0 the second's values, elsewhere the third's.
Array chosen(Evaluation& run, const Array& condition, const Array& yes, const Array& no);

/// What the brackets behind `base` pick; `parts` are the node's values, the base first.
Array picked(Evaluation& run, const std::vector<AxisPick>& picks, const std::vector<Array>& parts);

/// "0.25", "NaN", "-inf": a number for a message.
std::string numberWords(double value);
/// A whole number within 10⁻⁶; `what` begins the message where it is none.
Index wholeNumber(double value, const std::string& what);
/// An axis of a shape from a number, negative ones counted from the last.
std::size_t axisOf(const Array& number, const Array& of);
/// A single number, of any shape that has one value.
double numberOf(const Array& array, const std::string& what);

}  // namespace headscope::attention
