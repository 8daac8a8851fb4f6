#pragma once

#include "attention/models/model.h"
#include "attention/models/session.h"

namespace headscope::attention {

/// A head of a model. In an encoder–decoder the group says which stack it belongs to: a model opened for its
/// decoder or cross heads has both of these and the encoder's.
struct HeadPlace {
  HeadGroup group = HeadGroup::only;
  Index layer = 0, head = 0;
  bool operator==(const HeadPlace&) const = default;
};

/// A head's four maps over the residual stream, taken from the weights: the inputs include the gain (and
/// centring) of the norm before the attention, the output the gain of the norm after it, if there are such
/// norms. Biases, rotary positions and the norms' scales are left out. Keys and values of cross heads read
/// the encoder's stream, through its final norm if it has one.
struct HeadCircuits {
  Matrix q, k, v;  ///< [headDim, modelDim]; keys and values of its KV head
  Matrix o;        ///< [modelDim, headDim]
  /// [headDim, headDim]: q·qᵀ, k·kᵀ, v·vᵀ and oᵀ·o.
  Matrix qGram, kGram, vGram, oGram;
};
/// Throws std::invalid_argument if the model has no such head.
HeadCircuits headCircuits(const Model& model, const HeadPlace& head);
inline HeadCircuits headCircuits(const Model& model, Index layer, Index head) {
  return headCircuits(model, {model.config().group, layer, head});
}

/// The inputs through which a later head reads an earlier head's output.
struct Reads {
  bool queries = false, keysAndValues = false;
  bool any() const { return queries || keysAndValues; }
};
/// A head reads the heads of earlier layers that write to the same stream. In a decoder layer, cross heads
/// follow the decoder's own heads; their queries read the decoder's stream, their keys and values the
/// encoder's.
Reads readsOf(const HeadPlace& earlier, const HeadPlace& later);

/// How strongly a later head's queries, keys and values read an earlier head's output: ‖W₁·W₂‖_F /
/// (‖W₁‖_F·‖W₂‖_F), where one map is the earlier head's W_V·W_O and the other the later head's W_Q·W_Kᵀ, its
/// transpose, or W_V·W_O (Elhage et al. 2021, "Q-, K- and V-composition"). 1/√modelDim, the root mean square
/// for random maps, is subtracted. 0 if a map is 0; NaN if the later head's input reads another stream.
struct Composition {
  double q = 0, k = 0, v = 0;
  bool operator==(const Composition&) const = default;
};
Composition composition(const HeadCircuits& earlier, const HeadCircuits& later, Reads reads = {true, true});

/// The components that write to a token's residual stream, bottom up.
enum class Writer {
  embedding,      ///< tokens, positions and types, as they enter the first layer
  head,           ///< a head, through its part of W_O
  otherHead,      ///< a head of the decoder attention that isn't inspected (HeadGroup)
  attentionBias,  ///< b_O
  mlp,            ///< an MLP with its biases
  others,         ///< the layers without attention that belong to a layer of a hybrid
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
