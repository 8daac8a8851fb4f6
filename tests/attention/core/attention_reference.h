#pragma once

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

/// The layer, its input and its mask.
struct Problem {
  AttentionConfig config;
  Projections projections;
  Matrix x, context;
  MaskInput mask;
  std::string text;  ///< what is special about it, for failures
};

Reference referenceAttention(const Problem& problem);

/// A random problem of random size: groups, cross-attention, windows, sinks, ALiBi, soft-cap, RoPE,
/// key lengths, dense masks, biases.
Problem randomProblem(std::uint64_t seed);

/// Fails the running test, printing indices, where `found` [.., rows, cols] leaves the bounds.
void expectWithin(const std::vector<Bounded>& expected, const float* found, Index rows, Index cols,
                  const std::string& what);

/// Standard normal entries.
Matrix gaussianMatrix(Index rows, Index cols, std::uint64_t seed);

}  // namespace headscope::attention::test
