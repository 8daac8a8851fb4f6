#pragma once

#include <string>

#include "attention/core/score_terms.h"

namespace headscope::app {

/// Returns the text after a term's label, the same in the receipt and in the map: for a term that adds, the
/// added value; for one that scales or caps, the resulting score; for the mask, "visible" or "masked".
std::string stepText(const attention::ScoreStep& step);

/// Returns the contribution of every additive term to one cell, one line per term: "+ ALiBi  −0.500".
std::string addedText(const attention::AttentionConfig& config, const attention::MaskInput& mask,
                      attention::Index head, attention::Index query, attention::Index key);

}  // namespace headscope::app
