#pragma once

#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "attention/core/attention.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

struct PassResult;  // pass_result.h

/// What one token's pass through a model is made of, and a patch can replace.
enum class Piece {
  stream,   ///< [n, modelDim], before a layer; of the layer after the last one: before the final norm
  queries,  ///< of a head, [n, headDim], normed and rotated
  keys,     ///< of a KV head, [n, headDim], normed and rotated; read by all heads that share it
  values,   ///< of a KV head, [n, headDim]
  pattern,  ///< a head's weights, [n, m]; its output follows from them and from the values
  head,     ///< a head's output, [n, headDim], before W_O
  mlp,      ///< [n, modelDim], what a layer's MLP adds to the stream
};

/// The piece is multiplied: 0 switches it off.
struct Scaled {
  float factor = 0;
  bool operator==(const Scaled&) const = default;
};
/// Every row becomes the mean over the rows of the pass that are no padding, which has to be the whole text
/// ("mean ablation"; Wang et al. 2022, Interpretability in the Wild, section 2).
struct MeanOfRows {
  bool operator==(const MeanOfRows&) const = default;
};
/// The piece is what another run made of it ("activation patching"; Vig et al. 2020; Meng et al. 2022).
struct TakenFrom {
  std::shared_ptr<const PassResult> run;  ///< with the layer and the piece in it
  /// Of every token of this text the token of the other that it goes with; −1: none, its row stays. In a
  /// pattern, keys without one get weight 0. Null: the same tokens, and as many.
  std::shared_ptr<const std::vector<Index>> rows = nullptr;
  /// The same of the encoder's tokens, which cross heads' keys, values and patterns' columns are of.
  std::shared_ptr<const std::vector<Index>> sourceRows = nullptr;
  bool operator==(const TakenFrom&) const = default;
};

/// One piece of a pass replaced, as it is computed: all that follows reads what stands in its place.
struct Patch {
  Piece piece = Piece::head;
  Index layer = 0;
  std::optional<Index> head = {};  ///< a KV head of keys and values; nothing: all of the layer's
  Index firstToken = 0;  ///< rows from this token on, of what the heads read where keys and values are,
  std::optional<Index> tokens = {};  ///< so many; nothing: to the end
  std::variant<Scaled, MeanOfRows, TakenFrom> by = Scaled{};
  bool operator==(const Patch&) const = default;
};

/// An error unless the model has the layer and the head, and the run that is taken from has the piece for
/// each of the text's tokens. `source`: tokens that the encoder read for cross heads.
Status checkPatch(const Patch& patch, const ModelConfig& config, Index tokens, Index source = 0);

/// The rows of a pass that patches go on: `first` tokens are cached, `count` more follow, of which the first
/// `unpadded` are no padding.
struct PatchRows {
  Index first = 0, count = 0, unpadded = 0;
};
/// Whether one of them replaces this piece of the layer, and of this head where it has heads.
bool anyPatch(std::span<const Patch> patches, Index layer, Piece piece, Index head = 0);
/// Applies those of `patches` that replace this piece, in their order, to what one run made of it: `numbers`
/// [count, …].
void applyPatches(std::span<const Patch> patches, Index layer, Piece piece, Index head, PatchRows rows,
                  MutableMatrixView numbers);

/// The stream before a layer, or after the last one, as a run recorded it; null where it didn't.
const Matrix* recordedStream(const PassResult& run, Index layer);

}  // namespace headscope::attention
