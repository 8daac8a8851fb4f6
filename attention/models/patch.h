#pragma once

#include <memory>
#include <optional>
#include <span>
#include <variant>
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

struct PassResult;  // pass_result.h

/// The pieces of a pass that a patch can replace.
enum class Piece {
  stream,   ///< [n, modelDim], before a layer; one past the last layer: before the final norm
  queries,  ///< of a head, [n, headDim], normed and rotated
  keys,     ///< of a KV head, [n, headDim], normed and rotated; read by all heads that share it
  values,   ///< of a KV head, [n, headDim]
  pattern,  ///< a head's weights, [n, m]; its output is recomputed from them and the values
  head,     ///< a head's output, [n, headDim], before W_O
  mlp,      ///< [n, modelDim], what a layer's MLP adds to the stream
  middle,   ///< [n, modelDim], the stream between a layer's attention and its MLP
};

/// Multiplies the piece; a factor of 0 switches it off.
struct Scaled {
  float factor = 0;
  bool operator==(const Scaled&) const = default;
};
/// Replaces every row by the mean over the pass's unpadded rows. The pass must cover the whole text ("mean
/// ablation"; Wang et al. 2022, Interpretability in the Wild, section 2).
struct MeanOfRows {
  bool operator==(const MeanOfRows&) const = default;
};
/// Replaces the piece by another run's ("activation patching"; Vig et al. 2020; Meng et al. 2022).
struct TakenFrom {
  std::shared_ptr<const PassResult> run;  ///< has to contain the layer and the piece
  /// For each token of this text, the matching token of the other; −1: none, and the row stays unchanged. In
  /// a pattern, keys without a match get weight 0. Null: both texts have the same number of tokens, matched
  /// in order.
  std::shared_ptr<const std::vector<Index>> rows = nullptr;
  /// The same for the encoder's tokens, to which cross heads' keys, values and pattern columns belong.
  std::shared_ptr<const std::vector<Index>> sourceRows = nullptr;
  bool operator==(const TakenFrom&) const = default;
};

/// Replaces one piece of a pass while it is computed; everything after it reads the replacement.
struct Patch {
  Piece piece = Piece::head;
  Index layer = 0;
  std::optional<Index> head = {};  ///< a KV head for keys and values; nothing: all heads of the layer
  Index firstToken = 0;  ///< first row to replace; an encoder token for cross heads' keys and values
  std::optional<Index> tokens = {};  ///< number of rows; nothing: to the end
  std::variant<Scaled, MeanOfRows, TakenFrom> by = Scaled{};
  bool operator==(const Patch&) const = default;
};

/// Returns an Error unless the model has the layer and the head, and the source run recorded the piece for
/// each of the text's tokens. `source`: number of tokens the encoder read for cross heads.
Status checkPatch(const Patch& patch, const ModelConfig& config, Index tokens, Index source = 0);

/// The rows of a pass to patch: `count` rows after `first` cached tokens; the first `unpadded` of them aren't
/// padding.
struct PatchRows {
  Index first = 0, count = 0, unpadded = 0;
};
/// Whether any patch replaces this piece of the layer, and of this head if the piece belongs to heads.
bool anyPatch(std::span<const Patch> patches, Index layer, Piece piece, Index head = 0);
/// Applies the patches that replace this piece, in order, to one run's values: `numbers` [count, …].
void applyPatches(std::span<const Patch> patches, Index layer, Piece piece, Index head, PatchRows rows,
                  MutableMatrixView numbers);
/// The same for a piece that belongs to no head, in all runs: `numbers` [runs · count, …].
void applyPatches(std::span<const std::vector<Patch>> runs, Index layer, Piece piece, PatchRows rows,
                  Matrix& numbers);

/// Returns the stream that a run recorded before a layer, or after the last one; null if it wasn't recorded.
const Matrix* recordedStream(const PassResult& run, Index layer);

}  // namespace headscope::attention
