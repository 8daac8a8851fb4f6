#pragma once

#include <stop_token>

#include "app/compute/layer/line_tokens.h"
#include "app/compute/layer/model_text.h"
#include "attention/models/session.h"

namespace headscope::app {

class InputCache;

// What a scene asks of an opened model. All need setup.subject.opened.

/// The mask that acts on the scene's layer: `layers`, and the model's own before them where there is one.
attention::MaskLayers layersInForce(const Setup& setup, const attention::MaskLayers& layers);

/// A pass with everything that the scene changes of the model. Errors: masks that name files which can't be
/// read, numbers added to scores for another number of tokens.
attention::Result<attention::PassRequest> passRequest(const Setup& setup,
                                                      const std::vector<attention::Token>& tokens,
                                                      InputCache& cache);
/// The same as far as the scene's layer, of which nothing is kept until it is asked for.
attention::Result<attention::PassRequest> layerRequest(const Setup& setup,
                                                       const std::vector<attention::Token>& tokens,
                                                       InputCache& cache);
/// The same for all layers of a stack that is made here, on one line of the batch: its masks are the scene's.
attention::Result<attention::PassRequest> stackRequest(const Setup& setup, const LineTokens& line,
                                                       Index sequence, InputCache& cache);
/// Whether the scene changes anything of the model.
bool changesModel(const Setup& setup);

/// The scene's layer on these tokens: q, k, v, the mask and what it is computed with. Later layers aren't
/// computed.
attention::Result<std::shared_ptr<const attention::LayerResult>> runLayer(const Setup& setup,
                                                                          const ModelText& text,
                                                                          InputCache& cache,
                                                                          std::stop_token stop);

}  // namespace headscope::app
