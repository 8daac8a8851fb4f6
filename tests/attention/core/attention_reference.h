#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/core/attention.h"

namespace headscope::attention::test {

/// A number and how far single precision may honestly be from it.
struct Bounded {
  double value = 0;
  double error = 0;
};

/// Attention by its definition, one element after another in double precision. Every element carries
/// a bound on what rounding to float does to it, derived from float epsilon, the length of its sums
/// and the magnitude of their terms. Written apart from the code under test: no matrices, no shared
/// helper for visibility, slopes, rotation or softmax.
struct Reference {
  std::vector<Bounded> scores;      ///< [heads, n, m]; −inf with error 0 where masked
  std::vector<Bounded> weights;     ///< [heads, n, m]
  std::vector<Bounded> lse;         ///< [heads, n]
  std::vector<Bounded> headOutput;  ///< [heads, n, headDim]
  std::vector<Bounded> output;      ///< [n, modelDim]
};

/// What hides keys from queries, said without a formula.
struct Sight {
  bool causal = false;
  Index window = 0, sinks = 0;  ///< no window at 0
  std::optional<Index> keyLength;
  Stack masked;  ///< [1 or heads, n, m], not 0 where a key is hidden; empty for none
};

/// The layer, its input and its mask.
struct Problem {
  AttentionConfig config;
  Projections projections;
  Matrix x, context;
  MaskInput mask;
  std::string text;  ///< what is special about it, for failures
  Sight sight = {};  ///< what the mask's formula was made from; the reference goes by this

  /// Makes the formula once more, after x, context, config or sight were changed.
  void compileSight();
};

/// 4 heads on 2 KV heads of dimension 6, model dimension 20.
AttentionConfig smallConfig();
/// What the code under test makes of the problem.
AttentionResult solve(const Problem& problem);
Reference referenceAttention(const Problem& problem);

/// ALiBi's slope of a head and T5's number for a key `back` positions before its query, from the papers'
/// text; the numbers themselves are the product's, which draws them.
double alibiSlope(Index heads, Index head);
double t5Bias(const BucketBias& bias, Index heads, Index head, Index back);

/// Whether a row sees a key, from the problem's sight and its additive matrix.
bool sees(const Problem& problem, Index head, Index row, Index key);

/// A random problem of random size: groups, cross-attention, windows, sinks, gain, ALiBi, T5,
/// soft-cap, RoPE, key lengths, dense masks, biases.
Problem randomProblem(std::uint64_t seed);

/// Fails the running test, printing indices, where `found` [.., rows, cols] leaves the bounds.
void expectWithin(const std::vector<Bounded>& expected, const float* found, Index rows, Index cols,
                  const std::string& what);

/// Standard normal entries.
Matrix gaussianMatrix(Index rows, Index cols, std::uint64_t seed);

}  // namespace headscope::attention::test
