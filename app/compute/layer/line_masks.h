#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/compute/layer/input_cache.h"

namespace headscope::app {

/// The masks of one line; `other` is null unless the scene compares two masks.
struct LineMasks {
  std::shared_ptr<const attention::MaskFormula> mask, other;
  attention::Stack additive;
};

/// Compiles the masks of every line. Returns an Error if a mask is invalid for these tokens.
attention::Result<std::vector<LineMasks>> compileMasks(const Setup& setup,
                                                       const std::vector<LineTokens>& lines,
                                                       InputCache& cache);

/// Returns the titles of mask layers that by themselves hide all later keys; none if there is a causal layer
/// or a model.
std::vector<std::string> futureHiders(const Setup& setup, const LineTokens& line, InputCache& cache);

}  // namespace headscope::app
