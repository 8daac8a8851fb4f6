#pragma once

#include <span>
#include <vector>

#include "attention/core/attention_result.h"
#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/projections.h"

namespace headscope::attention {

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

}  // namespace headscope::attention
