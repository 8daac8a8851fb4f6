#pragma once

#include <memory>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/tensor.h"
#include "attention/models/routing.h"

namespace headscope::attention {

/// What one layer made of the rows of a pass: n new tokens that follow others, m in all. What wasn't asked
/// for is empty.
struct LayerResult {
  Index layer = 0;
  AttentionConfig config;  ///< what it was computed with, changes of a person included
  MaskInput mask;          ///< over [heads, n, m]
  Stack q;                 ///< [heads, n, headDim], normed and rotated
  Stack k, v;         ///< [kvHeads, n, headDim], as they are cached; of cross heads [kvHeads, m, headDim]
  Stack weights;      ///< [heads asked for, n, m]; rows sum to 1, or are 0 where no key is visible
  Stack headOutput;   ///< [heads, n, headDim], Σ weights·v, before W_O
  Stack otherOutput;  ///< the same of a decoder's attention that isn't looked at (HeadGroup)
  Matrix input;     ///< [n, modelDim], what queries are made of: the stream, normed where a norm comes first
  Matrix between;   ///< [n, modelDim], the residual stream between attention and MLP
  Matrix mlpAdded;  ///< [n, modelDim], what the MLP adds to it
  Routing routing;  ///< of a mixture's layer: which experts each row's MLP is made of
  Matrix hidden;    ///< [n, modelDim], the residual stream after the layer
};
using LayerResults = std::vector<std::shared_ptr<const LayerResult>>;

struct PassResult {
  /// [n, modelDim], the stream before the first layer; empty without `hidden`, and where the pass begins at a
  /// later one.
  Matrix embedded;
  LayerResults layers;  ///< of the layers asked for, ascending
  Matrix stream;        ///< [n, modelDim], after the last layer, before the final norm
  Matrix
      logits;  ///< [n or 1, vocabulary] of each run; empty where none are asked for or the model has no head
};

}  // namespace headscope::attention
