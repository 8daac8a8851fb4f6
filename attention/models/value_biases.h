#pragma once

#include "attention/models/circuits.h"

namespace headscope::attention {

/// Where the values' biases count, which a head writes whatever it reads, since its weights sum to 1: with
/// the attention's bias, as TransformerLens has it by default (fold_value_biases), or with the heads. They
/// include what the bias of the norm before the attention makes of the values (fold_ln).
enum class ValueBiases { folded, withHeads };

/// Returns the bias of a head's values, [headDim], if its output always holds it whole; empty without one,
/// in a layer with sinks, as a row's weights don't sum to 1 then, and if heads are gated. `weights` is the
/// layer or its other attention.
Vector wholeValueBias(const ModelConfig& config, const LayerWeights& layer, const AttentionWeights& weights,
                      Index head);

/// As attributeLogit() without `biases`, which folds them.
Result<Attribution> attributeLogit(const Model& model, const PassResult& run, Index row,
                                   const Answers& answers, ValueBiases biases,
                                   const std::stop_token& stop = {});

/// Converts rows that read a norm's output into rows that read its input, up to the norm's scale.
void readThrough(Matrix& rows, const NormWeights& norm, NormKind kind);

}  // namespace headscope::attention
