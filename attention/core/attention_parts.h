#pragma once

#include <span>
#include <vector>

#include "attention/core/attention_result.h"
#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/projections.h"

namespace headscope::attention {

// What the textbook path and the fast path share.

/// V = finite part + exceptions. The product of weights and V runs over the finite part alone, where
/// the zero weight of a masked key adds an exact 0; NaN and infinity, which 0 would not silence,
/// are then added to just those rows that see them.
class ValueRows {
 public:
  explicit ValueRows(const MatrixView& values);

  /// output = weights · V; a key is seen where its score is not −inf.
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
  Matrix copy_;  ///< with zeros where values_ is not finite; empty where all of it is
  std::vector<Exception> exceptions_;
};

/// Fits everything attendHeads reads against the config; both shapes stand in the message.
void requireHeadShapes(const AttentionConfig& config, std::span<const MatrixView> keys,
                       std::span<const MatrixView> values, const Stack& q);
/// The same for attend.
void requireAttendShapes(const AttentionConfig& config, const Projections& projections,
                         const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                         const MaskInput& mask);

/// Zeroes weights [n, m] of one head and scales up the rest. Drawn per head and absolute position, so that a
/// cached decode drops what the full pass drops.
void dropWeights(const Dropout& dropout, Index head, Index firstPosition, MutableMatrixView weights);

/// q and k of `result` by their positions, where the config says RoPE.
void rotate(const AttentionConfig& config, AttentionResult& result);

std::vector<MatrixView> slices(const Stack& stack);

}  // namespace headscope::attention
