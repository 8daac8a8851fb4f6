#pragma once

#include "app/compute/model/model_study.h"

namespace headscope::app {

/// A question about what a model's predictions lose without each of its heads.
struct HeadLossQuestion {
  std::shared_ptr<const ModelStudy> study;
  bool operator==(const HeadLossQuestion&) const = default;
};

/// The tokens whose probability is measured: those the model wrote, the most likely next one if it wrote
/// none, or the text's own tokens, which an encoder predicts.
enum class LossOf { written, next, standing };

struct HeadLosses {
  LossOf of = LossOf::next;
  Index next = -1;  ///< the token of LossOf::next
  /// [layers, heads]: mean probability without the head minus with it, everything else as in the scene.
  /// Negative = the head helps. A head that is already off is compared with being on.
  attention::Matrix change;
};

/// Whether one pass per head of the model takes only about a second, as with the miniature.
bool losesQuickly(const ModelStudy& study);

/// Runs one pass per head. Returns an Error if a pass fails, or "stopped" if `stop` is requested.
attention::Result<HeadLosses> headLosses(const HeadLossQuestion& question, Resources& resources,
                                         std::stop_token stop);

}  // namespace headscope::app
