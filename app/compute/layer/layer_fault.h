#pragma once

#include "app/compute/layer/layer_parts.h"

namespace headscope::app {

/// A layer that can't be computed, and the head to show.
struct FaultQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< with an error
  Index sequence = 0, head = 0;
  bool operator==(const FaultQuestion&) const = default;
};

/// The step at which a computation fails, and pictures of the steps before it.
struct LayerFault {
  FaultQuestion question;
  PipelineStep step = PipelineStep::input;  ///< the first step that can't be computed
  std::string found, expected;  ///< mismatching shapes, "12×8" and "12×256"; empty for other faults
  std::vector<attention::Token> queries, keys;  ///< [n], [m] of the line; empty if it can't be read
  StagePictures pictures;                       ///< of the steps before; unavailable ones are empty
};

/// Computes the steps before the fault. Pure.
attention::Result<std::shared_ptr<const LayerFault>> layerFault(const FaultQuestion& question,
                                                                Resources& resources,
                                                                std::stop_token stop = {});

}  // namespace headscope::app
