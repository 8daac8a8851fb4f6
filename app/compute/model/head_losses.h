#pragma once

#include "app/compute/model/model_study.h"

namespace headscope::app {

/// What a model's guesses lose without each of its heads.
struct HeadLossQuestion {
  std::shared_ptr<const ModelStudy> study;
  bool operator==(const HeadLossQuestion&) const = default;
};

/// Whose probability it is: of the tokens that were written, of the likeliest one behind a text with none,
/// or of the tokens that stand there, which an encoder guesses.
enum class LossOf { written, next, standing };

struct HeadLosses {
  LossOf of = LossOf::next;
  Index next = -1;  ///< the token of LossOf::next
  /// [layers, heads]: mean probability without the head minus with it, everything else as the scene has it.
  /// Below 0 the head helps. Of a head that is switched off, what it would add is taken away.
  attention::Matrix change;
};

/// Whether a pass for every head of the model is a matter of a second: of the miniature it is.
bool losesQuickly(const ModelStudy& study);

/// One pass a head. Errors: those of the pass; "stopped".
attention::Result<HeadLosses> headLosses(const HeadLossQuestion& question, Resources& resources,
                                         std::stop_token stop);

}  // namespace headscope::app
