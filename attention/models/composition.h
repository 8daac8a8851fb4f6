#pragma once

#include "attention/models/model.h"

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

}  // namespace headscope::attention
