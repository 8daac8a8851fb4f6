#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "attention/models/session.h"

namespace headscope::attention {

/// What writes into a token's residual stream, bottom up.
enum class Writer {
  embedding,      ///< tokens, positions and types, as they enter the first layer
  head,           ///< a head, through its part of W_O
  otherHead,      ///< the same of a decoder's attention that isn't looked at (HeadGroup)
  attentionBias,  ///< b_O
  mlp,            ///< an MLP with its biases
  normBias,  ///< of a norm that stands on the stream: the final one's, or a layer's where norms come after
  headBias,  ///< of the map to the vocabulary
};

struct Contribution {
  Writer by = Writer::embedding;
  Index layer = -1, head = -1;  ///< −1: of none
  HeadGroup group =
      HeadGroup::only;  ///< of heads and their biases, in a decoder that reads an encoder's output
  double value = 0;     ///< of the logit or the logit difference
};

/// Whose logit is taken apart: that of `id`, less that of `other` where there is one.
struct Answers {
  Index id = 0;
  std::optional<Index> other = {};
  bool operator==(const Answers&) const = default;
};

/// "Direct logit attribution" (Elhage et al. 2021, A Mathematical Framework for Transformer Circuits): the
/// residual stream is a sum, and the map to the vocabulary is linear once the final norm's scale is held as
/// it was; the slope from 0 of a soft-cap, and the scales of norms after attention and MLP, are held too.
struct Attribution {
  double total = 0;                 ///< the logit, or the difference, as the model has it
  std::vector<Contribution> parts;  ///< bottom up; they sum to the total
  /// [layers, heads, keys]: a head's part by the token it read, Σ over keys = the head's; NaN of a head whose
  /// output was replaced by what its pattern doesn't make of the values. Empty without recorded weights.
  Stack byKey;
};

/// `run` has to have kept all layers' hidden states, head outputs, values, weights and what the MLPs added;
/// it began at the first layer, and `row` is one of its rows. Errors: what wasn't kept, ids beyond the
/// vocabulary, a model without a head, one whose head has a layer of its own before the vocabulary (BERT's),
/// which no sum goes through; a run whose stream was replaced, so that the sum isn't the logit; "stopped".
Result<Attribution> attributeLogit(const Model& model, const PassResult& run, Index row,
                                   const Answers& answers, const std::stop_token& stop = {});

}  // namespace headscope::attention
