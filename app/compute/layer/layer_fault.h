#pragma once

#include "app/compute/layer/layer_parts.h"

namespace headscope::app {

/// A layer that can't be computed, and the head that would be taken apart.
struct FaultQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< with an error
  Index sequence = 0, head = 0;
  bool operator==(const FaultQuestion&) const = default;
};

/// Where its computation breaks off, and what there is before.
struct LayerFault {
  FaultQuestion question;
  PipelineStep step = PipelineStep::input;  ///< the first that can't be computed
  std::string found, expected;  ///< the shapes that clash, "12×8" and "12×256"; empty where it is no clash
  std::vector<attention::Token> queries, keys;  ///< [n], [m] of the line; empty where it can't be read
  StagePictures pictures;                       ///< of steps before; those that can't be had are empty
};

/// Computes the steps before the fault. Pure.
attention::Result<std::shared_ptr<const LayerFault>> layerFault(const FaultQuestion& question,
                                                                Resources& resources,
                                                                std::stop_token stop = {});

}  // namespace headscope::app
