#pragma once

#include <stop_token>

#include "app/scene/models/open_model.h"

namespace headscope::app {

/// How far a head of a model copies what it reads, whatever the text.
struct CopyingQuestion {
  std::shared_ptr<const OpenModel> opened;
  Index layer = 0, head = 0;
  bool operator==(const CopyingQuestion&) const = default;
};

/// attention::copyingScore() of the head's W_V and W_O, as the checkpoint has them: −1 to 1. Errors: a
/// checkpoint that changed while it was read.
attention::Result<double> headCopying(const CopyingQuestion& question, std::stop_token stop = {});

}  // namespace headscope::app
