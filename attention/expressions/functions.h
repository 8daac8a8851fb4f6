#pragma once

#include <span>
#include <string_view>

#include "attention/expressions/evaluation.h"
#include "attention/expressions/node.h"

namespace headscope::attention {

/// A row of the language's table of functions.
struct ExpressionFunction {
  std::string_view name;
  std::string_view arguments;  ///< "x, axis": those from the first "[" on may be left out
  int least, most;
  Array (*apply)(Evaluation& run, std::span<const Array> arguments);
  std::string_view help;  ///< one sentence
};

std::span<const ExpressionFunction> functionTable();
/// Null where the language has none of that name.
const ExpressionFunction* findFunction(std::string_view name);
/// Throws ExpressionFault where a call has too few or too many arguments, or asks what it can't mean.
void checkCall(const ExpressionNode& call);

// What functions are made of. The axis is the last argument where there is one.

/// How the values of an axis, or all, become one; the first five of at least one value.
enum class Fold { mean, deviation, least, most, mostAt, sum, norm, entropy, count, any, all };
Array folded(Evaluation& run, const Array& of, std::optional<std::size_t> axis, Fold fold);

/// e^x ÷ Σ e^x along an axis; 0 where all of it is −inf.
Array softmaxOf(Evaluation& run, const Array& of, std::size_t axis);
Array uniqueValues(Evaluation& run, const Array& of);
/// Ranks of the matrices in the last two axes: singular values above the largest · the larger side · float's
/// epsilon, as NumPy counts those of floats.
Array ranks(Evaluation& run, const Array& of);
/// Products of the matrices in the last two axes, other axes repeated to each other.
Array matrixProduct(Evaluation& run, const Array& a, const Array& b);

}  // namespace headscope::attention
