#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attention/core/attention.h"
#include "attention/masks/compile.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

/// The user's changes to a model's attention, on one layer or on all. Settings are combined with the model's
/// own.
struct AttentionEdit : ScoreSettings {
  std::optional<Index> layer;  ///< nothing: all layers
  MaskLayers mask;             ///< joined to the model's own by "&"; empty: none
  bool replacesMask = false;   ///< `mask` replaces the model's own
  /// Added to the scores, [1 or heads, N, N] for a text of up to N tokens; [1 or heads, N, m] for cross heads
  /// that read m encoder tokens. Empty or null: nothing is added.
  std::shared_ptr<const Stack> additive;
};

/// The settings and mask of one layer's attention.
struct LayerAttention {
  AttentionConfig config;
  MaskInput mask;  ///< over [heads, n, m]
};

/// The rows of a pass within the text: `first` cached tokens, then `count` new ones.
struct PassRows {
  Index first = 0, count = 0;
  Index source = 0;  ///< of the encoder's output that a decoder reads
  Index tokens() const { return first + count; }
};

/// The properties of a text that masks can refer to.
struct MaskedLine {
  const TextStructure& structure;  ///< of all tokens
  Index unpadded = 0;              ///< tokens before the padding
  Index sequence = 0;              ///< index of the text in its batch
};

/// The attention of each layer: the model's own with all edits of that layer applied in order
/// (joinSettings()). Layers with equal masks share one compiled mask. of() returns an Error of compileMask()
/// or validate(), or if an additive matrix has the wrong size.
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
  /// Compiled masks, keyed by their mask layers.
  std::vector<std::pair<MaskLayers, std::shared_ptr<const MaskFormula>>> compiled_;
};

}  // namespace headscope::attention
