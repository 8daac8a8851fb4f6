#pragma once

#include <span>
#include <string>
#include <vector>

#include "attention/core/attention.h"
#include "attention/core/random.h"

namespace headscope::attention::test {

/// What attendHeads reads, and what is special about it, for failures.
struct HeadsProblem {
  AttentionConfig config;
  MaskInput mask;
  Stack q, k, v;  ///< [heads, n, headDim], [kvHeads, m, headDim]
  std::string text;
  Index queries() const { return q.rows(); }
  Index keys() const { return k.rows(); }
};

struct HeadsSizes {
  Index heads = 1, kvHeads = 1, headDim = 1, queries = 1, keys = 1;
};

/// A config of these sizes without any rule.
AttentionConfig plainConfig(Index heads, Index kvHeads, Index headDim);

/// Standard normal entries.
Stack gaussianStack(Index count, Index rows, Index cols, std::uint64_t seed);

/// A problem of these sizes without any rule.
HeadsProblem plainHeads(const HeadsSizes& sizes, std::uint64_t seed);

/// A problem of these sizes with random rules: cache length, scale, gain, ALiBi, T5, soft-cap, additive masks
/// for one or all heads, and formulas of causal, window, sinks and key length, of boolean masks with rows
/// that see nothing, and of all patterns joined in every way. One in four has NaN and infinities among its
/// keys and values.
HeadsProblem randomHeads(const HeadsSizes& sizes, std::uint64_t seed);

/// The textbook's answer.
AttentionResult solveTextbook(const HeadsProblem& problem);
/// attendHeads' answer.
AttentionResult solveFast(const HeadsProblem& problem, Keep keep, std::stop_token stop = {});

/// How far two honest results in single precision may be apart, element by element. From float epsilon, the
/// length of the sums and the magnitude of their terms (Higham 2002, section 3.1), once for each of the two.
struct HeadsLimits {
  Stack scores, weights;  ///< [heads, n, m]; weights also where they are made from scores and log-sum-exp
  Matrix lse;             ///< [heads, n]
  Stack headOutput;       ///< [heads, n, headDim]
};
HeadsLimits limitsOf(const HeadsProblem& problem, const AttentionResult& expected);

/// Fails the test, with indices, where what `found` has of scores, weights, lse and headOutput is not what
/// `expected` has within the limits; −inf, NaN and infinity have to be the same, and a weight whose score is
/// −inf exactly 0.
void expectSameHeads(const HeadsProblem& problem, const AttentionResult& expected,
                     const AttentionResult& found, const std::string& what);
void expectSameHeads(const HeadsProblem& problem, const HeadsLimits& limits, const AttentionResult& expected,
                     const AttentionResult& found, const std::string& what);

/// Matrices [rows, cols] behind each other, compared with one limit for each element.
void expectClose(const float* expected, const float* found, const float* limits, Index count, Index rows,
                 Index cols, const std::string& what);

std::vector<MatrixView> viewsOf(const Stack& stack);

}  // namespace headscope::attention::test
