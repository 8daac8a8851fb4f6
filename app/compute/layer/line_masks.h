#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/compute/layer/input_cache.h"

namespace headscope::app {

/// The masks of one line; `other` is null where the scene doesn't compare.
struct LineMasks {
  std::shared_ptr<const attention::MaskFormula> mask, other;
  attention::Stack additive;
};

/// Both masks of every line, compiled. Errors: what a mask refuses on these tokens.
attention::Result<std::vector<LineMasks>> compileMasks(const Setup& setup,
                                                       const std::vector<LineTokens>& lines,
                                                       InputCache& cache);

/// Which layers let no query see a later key, each by itself, where that is not the causal one's doing.
std::vector<std::string> futureHiders(const Setup& setup, const LineTokens& line, InputCache& cache);

}  // namespace headscope::app
