#pragma once

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/line_tokens.h"

namespace headscope::app {

// Stacks of synthetic layers (isStack()), run by the code that runs models: weights in memory, no MLP, no map
// to a vocabulary. The embedding table holds the rows of one line of the text; token ids are positions.

/// Everything needed to run the layers of an opened model or a stack.
struct ModelRun {
  std::shared_ptr<const OpenModel> opened;
  ModelText text;
  attention::PassRequest request;  ///< with all changes that the scene makes
};

/// Prepares the scene's model or stack to run on its text. A stack runs on line `sequence` of the batch,
/// padded to the longest line. `text` is empty if nothing was typed. Returns an Error if readModelText() or
/// passRequest() fails, if a stack's weights or embeddings are invalid, or if the weights of all layers don't
/// fit into memory.
attention::Result<ModelRun> prepareRun(const Setup& setup, Index sequence, Resources& resources,
                                       std::stop_token stop = {});

/// Returns an Error if the weights of a stack's layers, all needed at once, leave too little memory, or if
/// their file has too few layers. A single layer has no such limits.
attention::Status checkStack(const Setup& setup, const MemoryBudget& memory);

/// Prepares the first `depth` layers of a stack on one line whose embeddings are the rows of `x`.
attention::Result<ModelRun> prepareStack(const Setup& setup, Index depth, const LineTokens& line,
                                         Index sequence, std::shared_ptr<const attention::Matrix> x,
                                         Resources& resources);

/// Returns the shown layer's input on a line with embeddings `x`. For a stack, that is the residual stream
/// before the layer, normed if the scene says so.
attention::Result<attention::Matrix> shownInput(const Setup& setup, const LineTokens& line, Index sequence,
                                                attention::Matrix x, Resources& resources,
                                                std::stop_token stop);
/// The same for each line of the batch, padded to the same length. For a single layer, InputCache::inputs().
attention::Result<std::shared_ptr<const std::vector<LineInput>>> shownInputs(
    const Setup& setup, const std::vector<LineTokens>& lines, Resources& resources,
    std::stop_token stop = {});

/// Whether all scores and outputs of the first `queries` rows are finite: large weights and stacked layers
/// can overflow fp32. The log-sum-exp of a row without visible keys, −∞, is allowed.
bool staysInRange(const attention::AttentionResult& result, Index queries);
/// Returns what happened and what helps if the shown layer's values overflow.
std::string outgrownText(const Setup& setup);

}  // namespace headscope::app
