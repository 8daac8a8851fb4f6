#pragma once

#include <string>

#include "attention/core/score_terms.h"

namespace headscope::app {

/// What stands behind a term's label, the same in the receipt and in the map: for a term that adds, what it
/// adds; for one that scales or caps, the score it leaves; for the mask "visible" or "masked".
std::string stepText(const attention::ScoreStep& step);

}  // namespace headscope::app
