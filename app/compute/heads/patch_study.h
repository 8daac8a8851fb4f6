#pragma once

#include "app/compute/layer/layer_parts.h"
#include "app/scene/shared_text.h"

namespace headscope::app {

/// Patches one head of a layer with its weights on another text.
struct PatchQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index head = 0;
  SharedText text;
  bool operator==(const PatchQuestion&) const = default;
};

/// Activation patching of a pattern (Wang et al. 2022, Interpretability in the Wild): A' of the other text
/// with the V of this one.
struct PatchStudy {
  PatchQuestion question;
  std::shared_ptr<const Snapshot> other;  ///< the same layer on the other text
  attention::Matrix weights;              ///< [n, m] the patched weights
  attention::Matrix headOutput;           ///< [n, headDim] weights · V
  attention::Matrix output;               ///< [n, modelDim] with the patch
  attention::Vector change;               ///< [n] ‖Δoutput‖ / ‖output‖
  attention::Vector headChange;           ///< [n] ‖Δ head output‖ / ‖head output‖

  const SequenceSnapshot& sequence() const { return other->sequences.front(); }
};

/// Returns an Error if the other text is invalid or has a different number of tokens, or "stopped" if `stop`
/// is requested.
attention::Result<std::shared_ptr<const PatchStudy>> studyPatch(const PatchQuestion& question,
                                                                Resources& resources,
                                                                std::stop_token stop = {});

}  // namespace headscope::app
