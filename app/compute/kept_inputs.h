#pragma once

#include <memory>
#include <vector>

#include "app/compute/layer_inputs.h"

namespace headscope::app {

// What a layer is computed from, kept by each thread until something it is made of changes: most sliders
// change neither the weights nor the embeddings, and drawing those anew takes longer than the attention.

/// As buildProjections.
attention::Result<std::shared_ptr<const attention::Projections>> keptProjections(const Setup& setup,
                                                                                 Index longest);
/// As embedLine, for each line of the batch.
attention::Result<std::shared_ptr<const std::vector<LineInput>>> keptInputs(
    const Setup& setup, const std::vector<LineTokens>& lines);

}  // namespace headscope::app
