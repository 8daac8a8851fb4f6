#pragma once

#include <stop_token>

#include "app/compute/layer/line_tokens.h"
#include "app/compute/layer/model_text.h"
#include "attention/models/session.h"

namespace headscope::app {

class InputCache;

// What a scene requests of a model. passRequest(), layerRequest(), readsLaterTokens() and runLayer() need
// setup.subject.opened.

/// Returns the mask in force on the scene's layer: the model's own layers, if there is a model, followed by
/// `layers`.
attention::MaskLayers layersInForce(const Setup& setup, const attention::MaskLayers& layers);

/// Returns a pass with all changes that the scene makes to the model. Returns an Error if a mask file can't
/// be read or the numbers added to scores are for a different number of tokens.
attention::Result<attention::PassRequest> passRequest(const Setup& setup,
                                                      const std::vector<attention::Token>& tokens,
                                                      InputCache& cache);
/// The same up to the scene's layer. The layer keeps nothing unless the caller requests it.
attention::Result<attention::PassRequest> layerRequest(const Setup& setup,
                                                       const std::vector<attention::Token>& tokens,
                                                       InputCache& cache);
/// The same for all layers of a synthetic stack on one line of the batch, under the scene's masks.
attention::Result<attention::PassRequest> stackRequest(const Setup& setup, const LineTokens& line,
                                                       Index sequence, InputCache& cache);
/// Whether the scene changes anything in the model.
bool changesModel(const Setup& setup);
/// Whether a token's row may depend on the tokens after it: in a model that isn't causal, under masks, which
/// may follow sentences, with numbers added to scores, and with a head replaced by its mean over the text.
bool readsLaterTokens(const Setup& setup);

/// Runs the scene's layer on these tokens. Returns its q, k, v, mask and settings. Later layers aren't
/// computed.
attention::Result<std::shared_ptr<const attention::LayerResult>> runLayer(const Setup& setup,
                                                                          const ModelText& text,
                                                                          InputCache& cache,
                                                                          std::stop_token stop);

}  // namespace headscope::app
