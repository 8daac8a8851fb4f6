#pragma once

#include "attention/models/model.h"

namespace headscope::attention {

/// A head of a model. Of an encoder–decoder the group says whose: a model that shows the decoder's own heads
/// or the cross ones has both, and its encoder's.
struct HeadPlace {
  HeadGroup group = HeadGroup::only;
  Index layer = 0, head = 0;
  bool operator==(const HeadPlace&) const = default;
};

/// A head's four maps over the residual stream, as the weights have them: what it reads with the gain (and
/// the centring) of the norm before it, what it writes with the gain of the norm after it, where there are
/// such. Biases, rotations of positions and the norms' scales take no part. Keys and values of cross heads
/// read the encoder's stream, through its final norm where it has one.
struct HeadCircuits {
  Matrix q, k, v;  ///< [headDim, modelDim]; keys and values of its KV head
  Matrix o;        ///< [modelDim, headDim]
  /// [headDim, headDim]: q·qᵀ, k·kᵀ, v·vᵀ and oᵀ·o.
  Matrix qGram, kGram, vGram, oGram;
};
/// Throws std::invalid_argument where the model has no such head.
HeadCircuits headCircuits(const Model& model, const HeadPlace& head);
inline HeadCircuits headCircuits(const Model& model, Index layer, Index head) {
  return headCircuits(model, {model.config().group, layer, head});
}

/// What a later head reads of what an earlier one writes.
struct Reads {
  bool queries = false, keysAndValues = false;
  bool any() const { return queries || keysAndValues; }
};
/// A head reads those of earlier layers that write to the same stream. In a decoder's layer the cross heads
/// come after its own; their queries read the decoder's stream, their keys and values the encoder's.
Reads readsOf(const HeadPlace& earlier, const HeadPlace& later);

/// How much of what an earlier head writes a later one reads as queries, keys and values: ‖W₁·W₂‖_F /
/// (‖W₁‖_F·‖W₂‖_F) of the earlier head's W_V·W_O and the later one's W_Q·W_Kᵀ, its transpose, and W_V·W_O
/// (Elhage et al. 2021, "Q-, K- and V-composition"), less 1/√modelDim: the root mean square where the two
/// lie to each other at random. 0 where one of the maps is 0; NaN where the later head's map reads another
/// stream.
struct Composition {
  double q = 0, k = 0, v = 0;
  bool operator==(const Composition&) const = default;
};
Composition composition(const HeadCircuits& earlier, const HeadCircuits& later, Reads reads = {true, true});

}  // namespace headscope::attention
