#pragma once

#include <stop_token>
#include <vector>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/model_pass.h"
#include "app/compute/layer/resources.h"

namespace headscope::app {

// Several layers that are made here (isStack()), through the code that runs models: their weights in memory,
// no MLP, no map to a vocabulary, and as embedding the rows of one line of the text, whose ids are its
// places.

/// What a model's layers are run on, an opened one's or those made here.
struct ModelRun {
  std::shared_ptr<const OpenModel> opened;
  ModelText text;
  attention::PassRequest request;  ///< with everything that the scene changes
};

/// The scene's model or stack on its text; of a stack, whose text has lines, that of the batch's line
/// `sequence`, padded to the longest. `text` is empty where nothing was typed. Errors: what readModelText()
/// and passRequest() refuse, what a stack's weights and embeddings refuse, and weights of all layers that
/// don't fit into memory.
attention::Result<ModelRun> prepareRun(const Setup& setup, Index sequence, Resources& resources,
                                       std::stop_token stop = {});

/// An error where the weights of a stack's layers, which are needed at once, leave too little of the memory,
/// and where their file hasn't as many. A single layer has no such limits.
attention::Status checkStack(const Setup& setup, const MemoryBudget& memory);

/// The first `depth` layers of a stack on one line, whose embeddings are the rows of `x`.
attention::Result<ModelRun> prepareStack(const Setup& setup, Index depth, const LineTokens& line,
                                         Index sequence, std::shared_ptr<const attention::Matrix> x,
                                         Resources& resources);

/// What the shown layer reads on a line that was embedded as `x`: of a stack the residual stream before it,
/// normed where the scene says so.
attention::Result<attention::Matrix> shownInput(const Setup& setup, const LineTokens& line, Index sequence,
                                                attention::Matrix x, Resources& resources,
                                                std::stop_token stop);
/// The same for each line of the batch, padded to one length. Of a single layer InputCache::inputs().
attention::Result<std::shared_ptr<const std::vector<LineInput>>> shownInputs(
    const Setup& setup, const std::vector<LineTokens>& lines, Resources& resources,
    std::stop_token stop = {});

/// Whether all scores and outputs of the first `queries` rows are numbers: large weights, and layers upon
/// each other, leave what fp32 holds. A row without a visible key has the log-sum-exp −∞.
bool staysInRange(const attention::AttentionResult& result, Index queries);
/// Of the shown layer, when its numbers are no numbers any more: what happened and what helps.
std::string outgrownText(const Setup& setup);

}  // namespace headscope::app
