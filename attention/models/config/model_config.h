#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/result.h"
#include "attention/models/config/generation_rules.h"
#include "attention/models/config/rotation.h"

namespace headscope::attention {

struct Family;  // families.h

/// layer: (x − mean)/√(var + ε)·w + b (Ba et al. 2016); rms: x/√(mean x² + ε)·w (Zhang & Sennrich 2019);
/// rmsPlusOne: the same with 1 + w, as the Gemmas keep it.
enum class NormKind { layer, rms, rmsPlusOne };

/// gelu: x·Φ(x); geluTanh: its approximation by a hyperbolic tangent (Hendrycks & Gimpel 2016); silu: x·σ(x).
/// quickGelu: x·σ(1.702x), another one.
enum class Activation { gelu, geluTanh, silu, relu, quickGelu };

/// How a layer joins attention, MLP and their norms N to the residual stream x.
enum class BlockOrder {
  before,    ///< x += Attn(N₁x); x += MLP(N₂x)
  parallel,  ///< x += Attn(N₁x) + MLP(N₂x)
  after,     ///< x = N₁(x + Attn x); x = N₂(x + MLP x)
  around,    ///< x += N₁'(Attn(N₁x)); x += N₂'(MLP(N₂x))
};

/// A mixture of experts (Shazeer et al. 2017): a router scores the experts for each token, Σ softmax(Wr·x)ₑ ·
/// MLPₑ(x) over the best `used` of them is what the layer adds.
struct Mixture {
  Index experts = 0, used = 0;  ///< 0: the model has none
  Index innerDim = 0;           ///< of one expert
  bool sumsToOne = false;       ///< the shares of those used are divided by their sum
  /// Of one more MLP that every token goes through, times σ(w·x) where its names have a router; 0: there is
  /// none.
  Index sharedDim = 0;
  bool biased = false;     ///< router and experts add biases
  bool sigmoid = false;    ///< scores are σ(Wr·x) instead of the softmax
  bool corrected = false;  ///< a number for each expert is added to scores to choose by, not to the shares
  /// Experts lie in groups, and only those of the best groups can be chosen: by a group's best, or by the sum
  /// of its `groupBest` best (DeepSeek-AI 2024, V2 and V3).
  Index groups = 1, groupsUsed = 1, groupBest = 1;
  float shareScale = 1;  ///< factor on the shares
  bool operator==(const Mixture&) const = default;
};

/// Multi-head latent attention (DeepSeek-AI 2024, V2): keys and values of all heads are made of one short
/// vector a token, the latent, which is what a cache has to hold, beside a part of the key that carries the
/// position and is the same for all heads.
struct Latent {
  Index rank = 0;       ///< of the latent; 0: the model has none
  Index queryRank = 0;  ///< of the one that queries are made of; 0: they are made of the stream
  Index ropeDim = 0;    ///< last dimensions of a head's query and key, which are rotated
  Index valueDim = 0;   ///< of a head's value
  double epsilon = 1e-6;
  bool operator==(const Latent&) const = default;
};

/// Square patches of a picture are the tokens (Dosovitskiy et al. 2021), after one or two leading tokens and
/// the registers.
struct PictureTokens {
  static constexpr Index kMaxSide = 4096, kMostPatches = Index{1} << 16;
  /// What becomes of positions where a picture has other patches than they were made for.
  enum class OtherSizes { refused, interpolated, antialiased };

  Index side = 0, patch = 0;  ///< pixels of the picture that positions are for, and of a patch
  Index leading = 1;          ///< the class token, and DeiT's distillation token; they have positions
  Index registers = 0;        ///< behind these, without positions
  bool patchBias = true;
  OtherSizes otherSizes = OtherSizes::refused;
  std::vector<std::string> classes = {};  ///< what a classifier calls them, as config.json says
  bool classifiesMean = false;            ///< a classifier reads the mean of the patches behind the token
  /// What readies pictures where the folder's file names no class (picture_processor.h).
  std::string_view processor = {};

  bool operator==(const PictureTokens&) const = default;
  Index grid() const { return side / patch; }  ///< patches along a side
};

/// What may differ from layer to layer.
struct LayerKind {
  /// Keys within reach of a query, itself included: i − j < window, or |i − j| where the model sees both
  /// ways; none: all.
  std::optional<Index> window = {};
  std::optional<Index> rotation = {};  ///< which of the model's rotations; none: positions aren't rotated
  float scale = 1;                     ///< factor on q·k
  bool mixture = false;                ///< the model's mixture of experts stands where the MLP would
  bool operator==(const LayerKind&) const = default;
};

/// Which heads of an encoder–decoder are looked at; `only` of any other model. Those of a decoder read its
/// own text, `cross` ones what the encoder made of another.
enum class HeadGroup { only, encoder, decoder, cross };
/// "", "encoder", "decoder" or "cross".
std::string_view groupName(HeadGroup group);

/// A model's shape and everything about its equations that config.json decides, whatever its family calls it.
struct ModelConfig {
  const Family* family = nullptr;  ///< null of what was made or recorded elsewhere than by a family
  Index modelDim = 0, heads = 0, kvHeads = 0, headDim = 0, vocabulary = 0;
  Index innerDim = 0;  ///< of the MLP; 0: there is none
  Mixture mixture = {};
  Latent latent = {};  ///< kvHeads is heads then, of keys and values as they are made of it
  /// Rows of the table of learned positions; 0 where there is none.
  Index positionRows = 0;
  Index firstPosition = 0;  ///< the row of the first token's position
  /// A token that takes no position: its row is the one before the first's. Nothing: all tokens take one.
  std::optional<Index> padToken = {};
  Index maxPositions = 0;  ///< tokens the model was made for
  Index embeddingDim = 0;  ///< of the embeddings, which are mapped to modelDim; 0: modelDim, and no map
  Index tokenTypes = 0;    ///< rows of the table of token types, of which the first is added; 0 for none
  /// Of a model that reads pictures and has no vocabulary of its own.
  std::optional<PictureTokens> picture = {};

  bool causal = true;
  BlockOrder order = BlockOrder::before;
  NormKind norm = NormKind::layer;
  double epsilon = 1e-5;
  Activation activation = Activation::gelu;
  bool gated = false;  ///< MLP = down(act(gate x) ⊙ up x) instead of down(act(up x))
  /// The gate is at most this, what it gates within ± this, and 1 is added to the latter (gpt-oss).
  std::optional<float> gateLimit = {};
  bool sinks = false;  ///< each head has a sink (AttentionConfig::sinks)
  bool qkvBias = false, outputBias = false, mlpBias = false;
  bool qkNorm = false;           ///< each head's q and k are normed over headDim, before they are rotated
  bool alibi = false;            ///< slope·|i − j| is subtracted from scores (Press et al. 2022)
  bool wholeQkNorm = false;      ///< the same over all heads together
  bool normBias = true;          ///< of LayerNorm
  float embeddingScale = 1;      ///< factor on the token embeddings
  float residualScale = 1;       ///< factor on what attention and MLP add to the stream
  float logitScale = 1;          ///< factor on logits, before their soft-cap
  std::optional<float> softcap;  ///< of scores
  std::optional<float> finalSoftcap;  ///< of logits
  std::vector<Rotation> rotations;
  std::vector<LayerKind> layers;

  HeadGroup group = HeadGroup::only;
  Index startToken = 0;  ///< of a decoder that reads: the token its text begins with
  /// Numbers added to scores by distance, the same in all layers; its table is the checkpoint's.
  std::optional<BucketBias> bucketBias = {};

  bool firstLayerNormed = true;  ///< the first layer has a norm before its attention, as the others have
  bool headDenseBias = true;     ///< of a masked-token head
  bool finalNorm = true;         ///< where the family has one
  bool headBias = false;         ///< of the head's map to the vocabulary, where its names have no headBias
  /// Of a masked-token head; nothing: the layers'.
  std::optional<Activation> headActivation = {};
  bool tied = true;               ///< the embedding is the head where the file has no other
  std::string architecture = {};  ///< the class that saved the checkpoint, "LlamaForCausalLM"; or empty

  std::vector<Index> endTokens;  ///< that end a text, from config.json
  GenerationRules generation = {};
  std::vector<std::string> notes;  ///< what is left out or was decided, in a sentence each

  bool operator==(const ModelConfig&) const = default;
  /// Whether each layer has two attentions, to its own text and then to an encoder's output.
  bool reads() const { return group == HeadGroup::decoder || group == HeadGroup::cross; }
  /// Whether it is the second one whose heads are looked at and changed.
  bool cross() const { return group == HeadGroup::cross; }
  /// Whether the heads looked at see no later token: cross heads see all of the encoder's text.
  bool causalHeads() const { return causal && !cross(); }
  /// The same decoder with its other heads looked at.
  ModelConfig withOtherHeads() const;
  /// Of a head's value and output.
  Index valueDim() const { return latent.rank > 0 ? latent.valueDim : headDim; }
  /// Numbers that a token adds to the cache of a layer: keys and values, or the latent and its rotated part.
  Index cachedNumbers() const {
    return latent.rank > 0 ? latent.rank + latent.ropeDim : 2 * kvHeads * headDim;
  }
  Index embeddingSize() const { return embeddingDim > 0 ? embeddingDim : modelDim; }
  Index layerCount() const { return static_cast<Index>(layers.size()); }
  /// Whether it sees both ways though its family goes from left to right.
  bool isTwoSidedDecoder() const;
  /// Tokens a text may have; nothing where positions are rotated, which go on for ever.
  std::optional<Index> positionLimit() const;
  /// An error unless each head's queries, keys and values are linear in the stream's normed rows.
  Status haveHeadsMaps() const;
  /// What a layer's attention is computed with, but for its sinks (Model::attention), before a person changes
  /// anything.
  AttentionConfig attention(Index layer) const;
  /// The layer's mask as people write it: "window(4096)", "causal", "full".
  std::string maskText(Index layer) const;
};

/// Reads a config.json. Errors, each in one sentence that begins with `name`: what is no JSON object,
/// families that aren't there, quantised weights, mixtures and encoder-decoders of other families, unknown
/// rotations and activations, sizes that are missing, negative, too large or don't fit each other, fields
/// with a value that isn't understood. Fields that nobody knows are named in a note. `group`: which heads of
/// an encoder–decoder, "encoder", "decoder" or "cross", which is also what "" stands for; another one, and
/// any of a model that has no groups, is refused.
Result<ModelConfig> readModelConfig(std::string_view json, const std::string& name,
                                    std::string_view group = {});

}  // namespace headscope::attention
