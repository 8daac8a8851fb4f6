#pragma once

#include <span>
#include <string_view>

#include "attention/expressions/evaluation.h"
#include "attention/expressions/node.h"

namespace headscope::attention {

/// An entry in the language's table of functions.
struct ExpressionFunction {
  std::string_view name;
  std::string_view arguments;  ///< "x[, axis]"; those in brackets are optional
  int least, most;
  Array (*apply)(Evaluation& run, std::span<const Array> arguments);
  std::string_view help;  ///< one sentence
};

std::span<const ExpressionFunction> functionTable();
/// Returns null if the language has no function of that name.
const ExpressionFunction* findFunction(std::string_view name);
/// Throws ExpressionFault if a call has too few or too many arguments, or is the misleading count(unique(…)).
void checkCall(const ExpressionNode& call);

// The implementations of the functions. An axis is always the last argument.

/// How the values of an axis, or all values, are reduced to one. The first five need at least one value.
enum class Fold { mean, deviation, least, most, argmax, sum, norm, entropy, count, any, all };
Array folded(Evaluation& run, const Array& of, std::optional<std::size_t> axis, Fold fold);

/// Returns e^x ÷ Σ e^x along an axis; 0 where the whole axis is −inf.
Array softmaxOf(Evaluation& run, const Array& of, std::size_t axis);
Array uniqueValues(Evaluation& run, const Array& of);
/// Returns the ranks of the matrices in the last two axes: the number of singular values above largest ·
/// longer side · float epsilon, as NumPy does for float matrices.
Array ranks(Evaluation& run, const Array& of);
/// Multiplies the matrices in the last two axes; the other axes broadcast.
Array matrixProduct(Evaluation& run, const Array& a, const Array& b);

}  // namespace headscope::attention
