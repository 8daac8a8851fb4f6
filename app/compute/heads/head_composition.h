#pragma once

#include <stop_token>
#include <vector>

#include "app/scene/models/open_model.h"
#include "attention/models/composition.h"

namespace headscope::app {

/// A head of a model, to be compared with the earlier heads that it reads and the later heads that read it.
/// Independent of the text.
struct CompositionQuestion {
  std::shared_ptr<const OpenModel> opened;
  Index layer = 0, head = 0;
  bool operator==(const CompositionQuestion&) const = default;
};

/// Another head that composes with the one in question.
struct ComposedHead {
  Index layer = 0, head = 0;
  attention::Composition with;  ///< NaN for each kind of reading that doesn't occur
  attention::HeadGroup group = attention::HeadGroup::only;

  /// Returns the kind of composition, "Q", "K" or "V", with the largest value, and that value.
  std::pair<const char*, double> strongest() const;
};
struct HeadCompositions {
  std::vector<ComposedHead> earlier, later;  ///< heads that it can read and that can read it, strongest first
};

/// Returns attention::composition() of the head with every head that, by attention::readsOf(), it reads or is
/// read by. In a decoder that reads an encoder, these include its cross heads and the encoder's heads.
/// Returns an Error if the model's heads have no maps of their own or the checkpoint changed while it was
/// read, or "stopped" if `stop` is requested.
attention::Result<HeadCompositions> headCompositions(const CompositionQuestion& question,
                                                     std::stop_token stop);

/// An earlier head and a later one.
struct ComposedPair {
  Index fromLayer = 0, fromHead = 0, toLayer = 0, toHead = 0;
  attention::Composition with;
  attention::HeadGroup fromGroup = attention::HeadGroup::only, toGroup = attention::HeadGroup::only;
};
/// Returns all pairs for which composition is defined, ordered by layer and head. Needs all attention weights
/// as floats at once. Errors as for headCompositions().
attention::Result<std::vector<ComposedPair>> allCompositions(const attention::Model& model);

}  // namespace headscope::app
