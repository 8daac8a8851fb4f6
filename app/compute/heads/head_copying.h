#pragma once

#include <stop_token>

#include "app/scene/models/open_model.h"

namespace headscope::app {

/// A question about how much a head of a model copies what it reads, independent of the text.
struct CopyingQuestion {
  std::shared_ptr<const OpenModel> opened;
  Index layer = 0, head = 0;
  bool operator==(const CopyingQuestion&) const = default;
};

/// Returns attention::copyingScore() of the head's W_V and W_O in the checkpoint: −1 to 1. Returns an Error
/// if the model's heads have no maps of their own, for cross heads, if the checkpoint changed while it was
/// read, or "stopped" if `stop` is requested.
attention::Result<double> headCopying(const CopyingQuestion& question, std::stop_token stop = {});

}  // namespace headscope::app
