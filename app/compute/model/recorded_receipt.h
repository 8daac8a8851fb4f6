#pragma once

#include "app/compute/model/model_study.h"

namespace headscope::app {

/// One head of recorded attention that has queries and keys.
struct RecordedQuestion {
  std::shared_ptr<const ModelStudy> study;
  Index layer = 0, head = 0;
  bool operator==(const RecordedQuestion&) const = default;
};

/// How a recorded head's weights follow from its q and k. The file states neither the scale nor what was
/// added to the scores, so the scale is found by trial.
struct RecordedRule {
  double scale = 0;          ///< the factor of q·k that explains the weights best
  bool byRootOfDim = false;  ///< whether it is 1/√headDim
  double apart = 0;          ///< largest |softmax(scale·q·k over the keys with weight) − weight|
  bool explains() const { return apart <= 2e-3; }  ///< within the rounding of half-precision weights
};

/// Tries 1/√headDim first, then the least-squares scale s in log A_ij = s·q_i·k_j + c_i. Returns an Error if
/// the file has no q and k, or "stopped" if `stop` is requested.
attention::Result<RecordedRule> recordedRule(const RecordedQuestion& question, std::stop_token stop);

/// The computation of one weight of such a head.
struct RecordedReceipt {
  attention::Vector terms;    ///< [headDim], q_d·k_d
  double dot = 0, score = 0;  ///< Σ terms; that times the scale
  Index keys = 0;             ///< number of keys with weight in the row
  double logSum = 0;          ///< ln Σ_j exp(score_j) over these keys
  float weight = 0, recorded = 0;
  attention::Vector mixed;   ///< [headDim], recorded · v; empty if the file has no v
  attention::Vector output;  ///< [headDim], Σ_j recorded_j · v_j; empty if the file has no v
};
RecordedReceipt recordedReceipt(const LayerSummary& layer, Index head, Index query, Index key, double scale);

}  // namespace headscope::app
