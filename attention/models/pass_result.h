#pragma once

#include <memory>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// The experts of each row and their shares, in the order they were chosen: best score first.
struct Routing {
  Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> experts;  ///< [rows, used]
  Matrix shares;                                                                ///< [rows, used]
};

/// A layer's results for the rows of a pass: n new tokens after earlier ones, m in total. Anything not
/// requested is empty.
struct LayerResult {
  Index layer = 0;
  AttentionConfig config;  ///< settings of the computation, user edits included
  MaskInput mask;          ///< over [heads, n, m]
  Stack q;                 ///< [heads, n, headDim], normed and rotated
  Stack k, v;              ///< [kvHeads, n, headDim], as cached; for cross heads [kvHeads, m, headDim]
  Stack weights;      ///< [requested heads, n, m]; rows sum to 1, less with sinks, 0 if no key is visible
  Stack headOutput;   ///< [heads, n, headDim], Σ weights·v, before W_O
  Stack gates;        ///< of the same shape: what headOutput is also multiplied by, if heads are gated
  Stack otherOutput;  ///< the same for the decoder attention that isn't inspected (HeadGroup)
  Matrix input;       ///< [n, modelDim], the attention's input: the stream, normed in pre-norm models
  Matrix between;     ///< [n, modelDim], the residual stream between attention and MLP
  Matrix mlpAdded;    ///< [n, modelDim], what the MLP adds to it
  /// [n, modelDim], in a hybrid: the stream that enters the attention, and that leaves the MLP. Layers
  /// without attention are before and after these.
  Matrix entered, left;
  Matrix recurred;  ///< [n, modelDim], what a recurrence beside the attention adds to the stream
  Routing routing;  ///< the experts of each row, in a layer with a mixture
  Matrix hidden;    ///< [n, modelDim], the residual stream after the layer
};
using LayerResults = std::vector<std::shared_ptr<const LayerResult>>;

struct PassResult {
  /// [n, modelDim], the stream before the first layer; empty without `hidden`, or if the pass starts at a
  /// later layer.
  Matrix embedded;
  LayerResults layers;  ///< the requested ones, ascending
  Matrix stream;        ///< [n, modelDim], after the last layer, before the final norm
  Matrix logits;        ///< [n or 1, vocabulary] per run; empty if not requested or without a head
};

}  // namespace headscope::attention
