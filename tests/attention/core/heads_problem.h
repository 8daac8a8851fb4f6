#pragma once

#include <span>
#include <string>
#include <vector>

#include "attention/core/attention.h"
#include "attention/core/random.h"

namespace headscope::attention::test {

/// The input of attendHeads, and its special features for failure messages.
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

/// A stack of standard normal entries.
Stack gaussianStack(Index count, Index rows, Index cols, std::uint64_t seed);

/// A problem of these sizes without any rule.
HeadsProblem plainHeads(const HeadsSizes& sizes, std::uint64_t seed);

/// A problem of these sizes with random rules: cache length, scale, gain, ALiBi, T5, soft-cap, additive masks
/// for one or all heads, and formulas of causal, window, sinks and key length, of boolean masks with rows
/// that see nothing, and of all patterns combined in every way. One problem in four has NaN and infinities in
/// its keys and values.
HeadsProblem randomHeads(const HeadsSizes& sizes, std::uint64_t seed);

/// The textbook's result.
AttentionResult solveTextbook(const HeadsProblem& problem);
/// The result of attendHeads.
AttentionResult solveFast(const HeadsProblem& problem, Keep keep, std::stop_token stop = {});

/// How far two correct results in single precision may differ, element by element. Derived from float
/// epsilon, the length of the sums and the magnitude of their terms (Higham 2002, section 3.1), once for each
/// of the two.
struct HeadsLimits {
  Stack scores, weights;  ///< [heads, n, m]; weights also if they are computed from scores and log-sum-exp
  Matrix lse;             ///< [heads, n]
  Stack headOutput;       ///< [heads, n, headDim]
};
HeadsLimits limitsOf(const HeadsProblem& problem, const AttentionResult& expected);

/// Fails the test, with indices, if the scores, weights, lse or headOutput in `found` differ from `expected`
/// by more than the limits. −inf, NaN and infinity have to be equal, and a weight whose score is −inf has to
/// be exactly 0.
void expectSameHeads(const HeadsProblem& problem, const AttentionResult& expected,
                     const AttentionResult& found, const std::string& what);
void expectSameHeads(const HeadsProblem& problem, const HeadsLimits& limits, const AttentionResult& expected,
                     const AttentionResult& found, const std::string& what);

/// Compares `count` consecutive matrices [rows, cols], with one limit per element.
void expectClose(const float* expected, const float* found, const float* limits, Index count, Index rows,
                 Index cols, const std::string& what);

std::vector<MatrixView> viewsOf(const Stack& stack);

}  // namespace headscope::attention::test
