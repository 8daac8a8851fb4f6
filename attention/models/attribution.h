#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "attention/models/session.h"

namespace headscope::attention {

/// The components that write to a token's residual stream, bottom up.
enum class Writer {
  embedding,      ///< tokens, positions and types, as they enter the first layer
  head,           ///< a head, through its part of W_O
  otherHead,      ///< a head of the decoder attention that isn't inspected (HeadGroup)
  attentionBias,  ///< b_O
  mlp,            ///< an MLP with its biases
  normBias,       ///< of a norm on the stream: the final one, or a layer's in post-norm models
  headBias,       ///< of the map to the vocabulary
};

struct Contribution {
  Writer by = Writer::embedding;
  Index layer = -1, head = -1;        ///< −1: none
  HeadGroup group = HeadGroup::only;  ///< of a head or attention bias, in a decoder that reads an encoder
  double value = 0;                   ///< share of the logit or of the logit difference
};

/// The logit to attribute: that of `id`, minus that of `other` if set.
struct Answers {
  Index id = 0;
  std::optional<Index> other = {};
  bool operator==(const Answers&) const = default;
};

/// Direct logit attribution (Elhage et al. 2021, A Mathematical Framework for Transformer Circuits). The
/// residual stream is a sum, and the map to the vocabulary is linear if the final norm's scale is held at its
/// actual value. Also held: the slope from 0 of a soft-cap, and the scales of norms after attention and MLP.
struct Attribution {
  double total = 0;                 ///< the model's logit or logit difference
  std::vector<Contribution> parts;  ///< bottom up; they sum to the total
  /// [layers, heads, keys]: a head's contribution split by the token it read; sums over keys to the head's.
  /// NaN if the head's output was replaced and isn't pattern times values. Empty if weights weren't recorded.
  Stack byKey;
};

/// Splits a logit of row `row` into contributions. `run` must start at the first layer and have kept every
/// layer's hidden state, head outputs and MLP addition (and `between` in post-norm models); byKey also needs
/// values and weights. Returns an Error if any of these or the row is missing; if an id is outside the
/// vocabulary; if the model has no head, or has an extra layer before the vocabulary (BERT), which no sum
/// passes through; if the stream was replaced in this run, so that the parts don't sum to the logit; or, once
/// `stop` is requested, "stopped".
Result<Attribution> attributeLogit(const Model& model, const PassResult& run, Index row,
                                   const Answers& answers, const std::stop_token& stop = {});

}  // namespace headscope::attention
