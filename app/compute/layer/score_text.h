#pragma once

#include <string>

#include "attention/core/score_terms.h"

namespace headscope::app {

/// What stands behind a term's label, the same in the receipt and in the map: for a term that adds, what it
/// adds; for one that scales or caps, the score it leaves; for the mask "visible" or "masked".
std::string stepText(const attention::ScoreStep& step);

/// What every term that adds brings to one cell, a line for each: "+ ALiBi  −0.500".
std::string addedText(const attention::AttentionConfig& config, const attention::MaskInput& mask,
                      attention::Index head, attention::Index query, attention::Index key);

}  // namespace headscope::app
