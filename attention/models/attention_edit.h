#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attention/core/attention.h"
#include "attention/masks/compile.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

/// What a person changes of a model's attention, on one layer or on all; settings join the model's own.
struct AttentionEdit : ScoreSettings {
  std::optional<Index> layer;  ///< nothing: all
  MaskLayers mask;             ///< joined to the model's own by "&"; empty: none
  bool replacesMask = false;   ///< `mask` stands instead of the model's own
  /// Added to scores, [1 or heads, N, N] for a text of up to N tokens; empty for none.
  std::shared_ptr<const Stack> additive;
};

/// What one layer's attention is computed with.
struct LayerAttention {
  AttentionConfig config;
  MaskInput mask;  ///< over [heads, n, m]
};

/// Where the rows of a pass stand in the text: `first` tokens are cached, `count` more follow.
struct PassRows {
  Index first = 0, count = 0;
  Index source = 0;  ///< rows of an encoder's output that a decoder reads
  Index tokens() const { return first + count; }
};

/// What masks may ask of the text.
struct MaskedLine {
  const TextStructure& structure;  ///< of all tokens
  Index unpadded = 0;              ///< tokens before the padding
  Index sequence = 0;              ///< which line of a batch it is
};

/// The model's own attention with every edit that is for the layer, in their order; what a later one sets
/// counts. Compiled masks serve all layers of a pass that have the same. Errors: those of compileMask, an
/// additive matrix of another size, and what validate() refuses.
class LayerAttentions {
 public:
  LayerAttentions(const ModelConfig& config, const std::vector<AttentionEdit>& edits, PassRows rows,
                  const MaskedLine& line, const MaskSources& sources);
  Result<LayerAttention> of(Index layer);

 private:
  Result<std::shared_ptr<const MaskFormula>> maskOf(Index layer);
  Status addAdditive(const AttentionEdit& edit, Index layer, Stack& sum) const;

  const ModelConfig& config_;
  const std::vector<AttentionEdit>& edits_;
  PassRows rows_;
  const MaskSources& sources_;
  MaskGeometry geometry_;
  /// Masks so far, by the layers they are made of.
  std::vector<std::pair<MaskLayers, std::shared_ptr<const MaskFormula>>> compiled_;
};

}  // namespace headscope::attention
