#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attention/cache/weight_format.h"
#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// What a layer caches of earlier tokens.
enum class CacheKind {
  full,       ///< keys and values of all tokens
  window,     ///< keys and values of the last tokens
  chunk,      ///< keys and values of the current chunk's tokens
  latent,     ///< one latent and one rotary key per token for all heads (MLA)
  recurrent,  ///< a state of constant size: Mamba, gated DeltaNet, RWKV, short convolutions
  cross,      ///< keys and values of the encoder's tokens, written once
  shared,     ///< nothing; the layer reads an earlier layer's cache
  none,       ///< nothing: encoders, and layers without attention
};
inline constexpr std::array<std::string_view, 8> kCacheKindNames{"full",      "window", "chunk",  "latent",
                                                                 "recurrent", "cross",  "shared", "none"};

/// Layers that mix tokens in the same way.
struct LayerGroup {
  CacheKind kind = CacheKind::full;
  Index layers = 0;
  Index heads = 0, kvHeads = 0, headDim = 0;
  Index valueDim = 0;                ///< 0 = headDim
  Index span = 0;                    ///< tokens of a window, a chunk or a fixed-length encoder; else 0
  Index latentDim = 0, ropeDim = 0;  ///< cached per token instead of keys and values
  Index indexDim = 0;                ///< size of the key by which sparse attention selects tokens
  Index state = 0;                   ///< numbers cached per sequence, whatever its length
  bool state32 = false;              ///< states have 32 bits regardless of the cache's format
  std::uint64_t parameters = 0;      ///< per layer
  bool operator==(const LayerGroup&) const = default;
};

/// Layers with the same feed-forward part.
struct FeedForward {
  Index layers = 0, innerDim = 0;        ///< innerDim: per expert, if there are any
  Index experts = 0, activeExperts = 0;  ///< 0 = dense
  Index sharedDim = 0;                   ///< additional inner dimensions used by every token
  bool gated = false;                    ///< three matrices instead of two
  bool encoder = false;                  ///< not used in decoding
  bool operator==(const FeedForward&) const = default;
};

/// How a model's files store its weights: a row of kWeightFormats, or the like of one with other groups.
struct WeightStorage {
  std::string name = "bf16";
  double bits = 16;  ///< per weight, including its share of scales and zeros
  WeightFormatRow::Covers covers = WeightFormatRow::Covers::all;
  MathFormat computes = MathFormat::bf16;
  double headBits = 16;  ///< of a head that `covers` leaves out
  Index packedBits =
      0;            ///< of a weight in the whole numbers of its files; 0 = it isn't packed, or not known how
  Index group = 0;  ///< weights of a row that share a scale; 0 = all, or not known
  bool known = true;  ///< false: a quantisation that isn't known, for which the rest stands
  bool operator==(const WeightStorage&) const = default;
};
WeightStorage storageOf(WeightFormat format);

/// The sizes of a model that determine its cost. Counts are per layer unless stated otherwise.
struct ModelShape {
  std::string name = {};
  Index layers = 0, modelDim = 0, heads = 0;
  Index kvHeads = 0;                 ///< divides heads; with a latent, the heads computed from it
  Index headDim = 0;                 ///< of queries and keys, and of values if valueDim is 0
  Index context = 0;                 ///< maximum length in tokens
  bool contextKnown = true;          ///< whether the context is published, not assumed
  Index window = 0;                  ///< tokens that a sliding layer caches; 0 = all layers cache all tokens
  Index globalLayers = 0;            ///< with a window: layers that still cache all tokens
  Index latentDim = 0, ropeDim = 0;  ///< cached by multi-head latent attention instead of K and V
  Index queryLatent = 0, valueDim = 0;  ///< of the queries' latent (0 = none) and of the values
  bool decodes = true;                  ///< encoders keep no cache

  Index innerDim = 0;  ///< of dense feed-forward parts
  bool gated = false;  ///< three matrices instead of two
  Index vocabulary = 0;
  Index embeddingDim = 0;  ///< width of the embeddings, which are mapped to modelDim; 0 = modelDim, no map
  Index positions = 0;     ///< rows of learned positions
  bool tied = false;       ///< the head is the embedding table
  Index denseLayers = 0;   ///< with experts: layers without them
  Index experts = 0, activeExperts = 0, sharedExperts = 0, expertDim = 0;  ///< mixture of experts; 0 = dense

  /// The same by kind of layer; empty if the sizes above describe all layers. Read them through layerGroups()
  /// and feedForwards().
  std::vector<LayerGroup> groups = {};
  std::vector<FeedForward> feedForward = {};
  std::vector<std::uint8_t> order = {};  ///< the group of each decoding layer, first to last; may be empty
  std::uint64_t otherParameters = 0;     ///< norms, biases and tables not covered by the sizes above
  std::uint64_t repeatedParameters = 0;  ///< of layers that use the same weights as another, stored once

  std::uint64_t mtpParameters = 0;  ///< of layers in its files that predict further tokens and aren't needed

  WeightStorage weights = {};                             ///< in which it is published
  std::uint64_t countedParameters = 0, countedBytes = 0;  ///< from its files' headers; 0 = estimated
  std::vector<std::string> notes = {};  ///< what is assumed or not counted, one sentence each

  std::string source = {};  ///< where these figures are published

  bool isLatent() const { return latentDim > 0; }
  bool operator==(const ModelShape&) const = default;
};

/// The layers by kind, whether the shape lists them or has sizes common to all layers.
std::vector<LayerGroup> layerGroups(const ModelShape& shape);
std::vector<FeedForward> feedForwards(const ModelShape& shape);
/// Whether the layers have caches other than full and windowed ones, only latents, or none at all.
bool isHybrid(const ModelShape& shape);

/// Returns an Error naming the first invalid size of a shape, its value and what was expected.
Status validate(const ModelShape& shape);

/// Numbers of learned parameters by purpose.
struct ShapeParameters {
  std::uint64_t attention = 0;            ///< of all layers, including recurrent ones
  std::uint64_t feedForward = 0;          ///< of all layers and experts
  std::uint64_t activeFeedForward = 0;    ///< used by one token
  std::uint64_t embedding = 0, head = 0;  ///< if tied, the head is the embedding table itself
  std::uint64_t active = 0;               ///< used by one token: all except the experts it isn't routed to
  std::uint64_t experts = 0;              ///< routed experts, part of feedForward
  std::uint64_t encoder = 0;              ///< part of attention and feedForward not used in decoding
  std::uint64_t total = 0;                ///< from the files' headers if they were read
};
ShapeParameters parametersOf(const ModelShape& shape);
/// Returns the parameters of one layer's attention: Q d·H·s, K and V d·G·s each, O H·s·d; for latent
/// attention those of its low-rank maps (DeepSeek-AI 2024, DeepSeek-V2, section 2.1).
std::uint64_t attentionParameters(const ModelShape& shape);

/// Finds a shape by name, ignoring case; null if there is none.
const ModelShape* findShape(const std::vector<ModelShape>& shapes, std::string_view name);

}  // namespace headscope::attention
