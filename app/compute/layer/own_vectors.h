#pragma once

#include "app/compute/layer/layer_inputs.h"

namespace headscope::app {

/// The tokens' own vectors, with nothing that tells places apart, under their names: what stands in a table
/// for the same layer. [tokens, modelDim]
attention::Result<attention::Table> ownVectors(const Setup& setup,
                                               const std::vector<attention::Token>& tokens);

}  // namespace headscope::app
