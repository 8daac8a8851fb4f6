#pragma once

#include "app/compute/model/model_study.h"

namespace headscope::app {

/// One head of recorded attention that has queries and keys.
struct RecordedQuestion {
  std::shared_ptr<const ModelStudy> study;
  Index layer = 0, head = 0;
  bool operator==(const RecordedQuestion&) const = default;
};

/// How a recorded head's weights follow from its q and k: the file says neither what the scores were divided
/// by nor what was added to them, so that it is tried out.
struct RecordedRule {
  double scale = 0;          ///< the factor of q·k that explains the weights best
  bool byRootOfDim = false;  ///< it is 1/√headDim
  double apart = 0;          ///< largest |softmax(scale·q·k over the keys with weight) − weight|
  bool explains() const { return apart <= 2e-3; }  ///< half precision rounds weights so
};

/// Tries 1/√headDim first, then the scale s of least squares in log A_ij = s·q_i·k_j + c_i. Errors: a file
/// without q and k; "stopped".
attention::Result<RecordedRule> recordedRule(const RecordedQuestion& question, std::stop_token stop);

/// A weight of such a head taken apart.
struct RecordedReceipt {
  attention::Vector terms;    ///< [headDim], q_d·k_d
  double dot = 0, score = 0;  ///< Σ terms; by the rule's scale
  Index keys = 0;             ///< with weight in the row
  double logSum = 0;          ///< ln Σ_j exp(score_j) over them
  float weight = 0, recorded = 0;
  attention::Vector mixed;   ///< [headDim], recorded · v; empty where the file has no v
  attention::Vector output;  ///< [headDim], Σ_j recorded_j · v_j; empty likewise
};
RecordedReceipt recordedReceipt(const LayerSummary& layer, Index head, Index query, Index key, double scale);

}  // namespace headscope::app
