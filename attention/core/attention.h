#pragma once

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/projections.h"
#include "attention/core/score_terms.h"
#include "attention/core/tensor.h"
#include "attention/kernels/decode.h"

namespace headscope::attention {

/// All intermediate results of attention for one sequence of n queries over m keys.
struct AttentionResult {
  Stack q;           ///< [heads, n, headDim], rotated under RoPE
  Stack k;           ///< [kvHeads, m, headDim], rotated under RoPE
  Stack v;           ///< [kvHeads, m, headDim], or narrower
  Stack scores;      ///< [heads, n, m] after all score terms (score_terms.h); −inf where masked
  Stack weights;     ///< [heads, n, m]; a row and its sink's share sum to 1; zeros if no key is visible
  Matrix lse;        ///< [heads, n] log-sum-exp of the scores and the sink; −inf if no key is visible
  Stack headOutput;  ///< [heads, n, headDim], as wide as v
  Matrix output;     ///< [n, modelDim]
};

/// How much of a result is kept. Each level includes the ones before it.
enum class Keep { output, weights, scores };

/// Changes to heads' outputs before W_O combines them. Used to switch heads off.
struct HeadSwitch {
  std::vector<float> scale;  ///< [heads] factor on each head's output, 0 = off; empty = 1 for all
  /// Heads whose output, after scaling, is replaced by its mean over the rows ("mean ablation"; Wang et al.
  /// 2022, Interpretability in the Wild, section 2).
  std::vector<Index> mean;

  bool empty() const { return scale.empty() && mean.empty(); }
};

/// Applies `how` to headOutput [heads, n, headDim]. Means of the first `rows` rows replace all rows.
void switchHeads(Stack& headOutput, const HeadSwitch& how, Index rows);

/// V = finite part + exceptions. The product of weights and V uses the finite part only, so a masked
/// key's zero weight contributes exactly 0. NaN and infinity, which a zero weight would not cancel,
/// are then added only to the rows that see them.
class ValueRows {
 public:
  explicit ValueRows(const MatrixView& values);

  /// Sets output = weights · V. A key is visible if its score is not −inf.
  void weightedSum(const MatrixView& weights, const MatrixView& scores, MutableMatrixView output) const {
    output.noalias() = weights * finite();
    addExceptions(weights, scores, output);
  }
  void addExceptions(const MatrixView& weights, const MatrixView& scores, MutableMatrixView output) const;
  bool allFinite() const { return exceptions_.empty(); }
  MatrixView finite() const {
    return allFinite() ? values_ : MatrixView(copy_.data(), copy_.rows(), copy_.cols());
  }

 private:
  struct Exception {
    Index key, column;
    float value;
  };

  MatrixView values_;
  Matrix copy_;  ///< values_ with non-finite entries set to 0; empty if all are finite
  std::vector<Exception> exceptions_;
};

/// Checks everything attendHeads() reads against the config. Throws std::invalid_argument naming both shapes.
void requireHeadShapes(const AttentionConfig& config, std::span<const MatrixView> keys,
                       std::span<const MatrixView> values, const Stack& q);
/// The same for attend().
void requireAttendShapes(const AttentionConfig& config, const Projections& projections,
                         const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                         const MaskInput& mask);

/// Zeroes random weights [n, m] of one head and scales up the rest. Seeded by head and absolute position, so
/// that a cached decode drops the same weights as a full pass.
void dropWeights(const Dropout& dropout, Index head, Index firstPosition, MutableMatrixView weights);

/// Rotates q and k of `result` by their positions if the config uses RoPE.
void rotate(const AttentionConfig& config, AttentionResult& result);

std::vector<MatrixView> slices(const Stack& stack);

/// Multi-head attention, softmax(Q·Kᵀ·scale + bias)·V, heads concatenated and mapped by W_O (Vaswani et al.
/// 2017, eq. 1; GQA: Ainslie et al. 2023), on all processors.
///
/// x [n, modelDim] gives the queries; context [m, modelDim] the keys and values (pass x for
/// self-attention). The query in row r has absolute position cacheLength + r. Returns within milliseconds
/// once `stop` is requested; the result is then undefined.
/// Throws std::invalid_argument, naming both shapes, if sizes don't fit.
AttentionResult attend(const AttentionConfig& config, const Projections& projections,
                       const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                       const MaskInput& mask, std::stop_token stop = {}, Keep keep = Keep::scores);

/// The first part of attend(): q, k and v, with q and k rotated if the config uses RoPE. All else is empty.
AttentionResult project(const AttentionConfig& config, const Projections& projections,
                        const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                        std::stop_token stop = {});
/// The rest of attend(), from the q, k and v that project() returned.
void attendProjected(const AttentionConfig& config, const Projections& projections, const MaskInput& mask,
                     AttentionResult& result, std::stop_token stop = {}, Keep keep = Keep::scores);

/// Fills scores, weights, lse and headOutput of `result` from its q, k and v. A masked key never affects
/// a row, even if the key or its value is NaN or infinite. Scores that a mask leaves visible are bitwise
/// the same as without it.
void attendHeads(const AttentionConfig& config, const MaskInput& mask, AttentionResult& result,
                 std::stop_token stop = {}, Keep keep = Keep::scores);
/// The same with keys and values stored elsewhere, one view [m, headDim] per kv head. Values may be
/// narrower, [m, ≤ headDim]; headOutput is as wide as the values.
void attendHeads(const AttentionConfig& config, const MaskInput& mask, std::span<const MatrixView> keys,
                 std::span<const MatrixView> values, AttentionResult& result, std::stop_token stop = {},
                 Keep keep = Keep::scores);

/// Returns the softmax of the scores, without dropout: [heads, n, m]. Incomplete once `stop` is requested.
Stack undroppedWeights(const AttentionConfig& config, const AttentionResult& result,
                       std::stop_token stop = {});

/// Returns the first `cols` columns of every slice.
Stack leftColumns(const Stack& stack, Index cols);
/// Splits y [n, count · headDim] into [count, n, headDim].
Stack splitHeads(const Eigen::Ref<const Matrix>& y, Index count);
/// The inverse: [count, n, headDim] to [n, count · headDim].
Matrix mergeHeads(const Stack& heads);

/// Returns the size of an AttentionResult in bytes; saturates instead of overflowing.
std::uint64_t attentionResultBytes(const AttentionConfig& config, Index queries, Index keys);

/// attendHeads() on the kernels, using all threads of their pool. The caller must check the shapes.
void attendHeadsFast(const AttentionConfig& config, const MaskInput& mask, std::span<const MatrixView> keys,
                     std::span<const MatrixView> values, Keep keep, AttentionResult& result,
                     std::stop_token stop);

/// Number format of a cache: IEEE single, IEEE half, or the upper half of a single (bfloat16).
using kernels::CacheType;

/// Returns the bytes per cached number.
Index cacheTypeBytes(CacheType type);

/// The cached keys and values of all kv heads: [kvHeads, length, headDim], with `headStride` numbers from
/// one kv head to the next.
struct CacheView {
  CacheType type = CacheType::f32;
  const void* keys = nullptr;
  const void* values = nullptr;
  Index length = 0;
  Index headStride = 0;
};

/// Runs one decode step: result.q [heads, 1, headDim] attends to the whole cache. Computes the same as
/// attendHeads(), in one pass that reads each key and value once for all heads of a group (Dao et al. 2023,
/// "Flash-Decoding"). Fills lse, headOutput and, depending on `keep`, scores and weights. Ignores dropout.
/// Returns false, with the outputs undefined, if the cache or the query has NaN or infinity, which
/// attendHeads() handles, or once `stop` is requested.
/// Throws std::invalid_argument, naming both shapes, if sizes don't fit.
bool decodeHeads(const AttentionConfig& config, const MaskInput& mask, const CacheView& cache, Keep keep,
                 AttentionResult& result, const std::stop_token& stop = {});

/// How one weight is computed, term by term, and what it contributes: q·k, the score terms in order, softmax,
/// weight · v, the head's output. The last step's score is the stored one, and without dropout
/// weight = exp(score − rowMax) / rowSum, up to rounding.
struct ScoreReceipt {
  Vector q, k, product;          ///< [headDim]; product = q ∘ k
  float dot = 0;                 ///< Σ product
  std::vector<ScoreStep> steps;  ///< every term that applies
  bool visible = false;
  float score = 0;            ///< the stored score; −inf when masked
  std::optional<float> sink;  ///< the head's extra score without a key, if any
  float rowMax = 0;           ///< largest score of the row including the sink's; −inf if no key is visible
  float exponential = 0;      ///< exp(score − rowMax); 0 when masked
  float rowSum = 0;           ///< Σ exp(score − rowMax) over the row, including the sink
  float weight = 0;           ///< the stored weight, after dropout

  Vector weighted;  ///< [headDim] weight · v of the key: its contribution to the head's output
  Vector rest;      ///< [headDim] Σ weight · v of all other keys
  Vector output;    ///< [headDim] the head's output for this query: weighted + rest
};

/// Explains one cell of a result. Throws std::invalid_argument if an index lies outside the result.
ScoreReceipt explainScore(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                          Index head, Index query, Index key);

/// Returns the sink's share of a row's softmax; 0 if the head has no sink or the row sees no key.
float sinkShare(const AttentionConfig& config, const AttentionResult& result, Index head, Index query);

/// Returns the entropy of one row of weights in nats: −Σ w·ln w.
float rowEntropy(const Eigen::Ref<const Eigen::RowVectorXf>& weights);

}  // namespace headscope::attention
