#pragma once

#include <stop_token>
#include <vector>

#include "app/scene/models/open_model.h"
#include "attention/models/composition.h"

namespace headscope::app {

/// What a head of a model reads of earlier heads, and what later heads read of it, whatever the text.
struct CompositionQuestion {
  std::shared_ptr<const OpenModel> opened;
  Index layer = 0, head = 0;
  bool operator==(const CompositionQuestion&) const = default;
};

/// A head beside the one that is asked about.
struct ComposedHead {
  Index layer = 0, head = 0;
  attention::Composition with;  ///< NaN: what isn't read of each other
  attention::HeadGroup group = attention::HeadGroup::only;

  /// "Q", "K" or "V", by which it composes most, and how much.
  std::pair<const char*, double> strongest() const;
};
struct HeadCompositions {
  std::vector<ComposedHead> earlier, later;  ///< that it can read or be read by, the strongest first
};

/// attention::composition() of the head with all heads that attention::readsOf() has it read or be read by,
/// in a decoder that reads also those of its other attention and of its encoder. Errors: a checkpoint that
/// changed while it was read; "stopped".
attention::Result<HeadCompositions> headCompositions(const CompositionQuestion& question,
                                                     std::stop_token stop);

/// An earlier head and a later one.
struct ComposedPair {
  Index fromLayer = 0, fromHead = 0, toLayer = 0, toHead = 0;
  attention::Composition with;
  attention::HeadGroup fromGroup = attention::HeadGroup::only, toGroup = attention::HeadGroup::only;
};
/// All pairs that are defined, by their layers and heads. Needs all attention weights as floats at once.
/// Errors as above.
attention::Result<std::vector<ComposedPair>> allCompositions(const attention::Model& model,
                                                             std::stop_token stop = {});

}  // namespace headscope::app
