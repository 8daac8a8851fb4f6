#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/core/attention.h"

namespace headscope::attention::test {

/// A number, and how far a correct result in single precision may be from it.
struct Bounded {
  double value = 0;
  double error = 0;
};

/// Attention by its definition, element by element in double precision. Every element has a bound on its
/// rounding error in float, derived from float epsilon, the length of its sums and the magnitude of their
/// terms. Written independently of the code under test: no matrices, and no shared helpers for visibility,
/// slopes, rotation or softmax.
struct Reference {
  std::vector<Bounded> scores;      ///< [heads, n, m]; −inf with error 0 where masked
  std::vector<Bounded> weights;     ///< [heads, n, m]
  std::vector<Bounded> lse;         ///< [heads, n]
  std::vector<Bounded> headOutput;  ///< [heads, n, headDim]
  std::vector<Bounded> output;      ///< [n, modelDim]
};

/// The rules that hide keys from queries, without a formula.
struct Sight {
  bool causal = false;
  Index window = 0, sinks = 0;  ///< 0 = no window
  std::optional<Index> keyLength;
  Stack masked;  ///< [1 or heads, n, m], nonzero where a key is hidden; empty = none
};

/// A layer with its input and mask.
struct Problem {
  AttentionConfig config;
  Projections projections;
  Matrix x, context;
  MaskInput mask;
  std::string text;  ///< the problem's special features, for failure messages
  Sight sight = {};  ///< the rules that the mask's formula is compiled from, used by the reference

  /// Compiles the formula again after x, context, config or sight have changed.
  void compileSight();
};

/// 4 heads on 2 kv heads of dimension 6, model dimension 20.
AttentionConfig smallConfig();
/// The result of the code under test.
AttentionResult solve(const Problem& problem);
Reference referenceAttention(const Problem& problem);

/// ALiBi's slope of a head, and T5's bias for a key `back` positions before its query, following the papers'
/// text. The T5 numbers themselves are random and come from the code under test.
double alibiSlope(Index heads, Index head);
double t5Bias(const BucketBias& bias, Index heads, Index head, Index back);

/// Whether a row sees a key, by the problem's sight and additive matrix.
bool sees(const Problem& problem, Index head, Index row, Index key);

/// A problem of random size with random features: groups, cross-attention, windows, sinks, gain, ALiBi, T5,
/// soft-cap, RoPE, key lengths, dense masks, biases.
Problem randomProblem(std::uint64_t seed);

/// Fails the running test, printing indices, if `found` [.., rows, cols] is outside the bounds.
void expectWithin(const std::vector<Bounded>& expected, const float* found, Index rows, Index cols,
                  const std::string& what);

/// A matrix of standard normal entries.
Matrix gaussianMatrix(Index rows, Index cols, std::uint64_t seed);

}  // namespace headscope::attention::test
