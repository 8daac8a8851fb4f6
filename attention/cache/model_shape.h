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

/// What a layer keeps of the tokens that came before.
enum class CacheKind {
  full,       ///< keys and values of all tokens
  window,     ///< of the last tokens
  chunk,      ///< of the tokens of the current chunk
  latent,     ///< one latent and one rotary key a token for all heads (MLA)
  recurrent,  ///< a state of constant size: Mamba, gated DeltaNet, RWKV, short convolutions
  cross,      ///< keys and values of the encoder's tokens, written once
  shared,     ///< nothing of its own: it reads what an earlier layer keeps
  none,       ///< nothing: encoders, and layers without attention
};
inline constexpr std::array<std::string_view, 8> kCacheKindNames{"full",      "window", "chunk",  "latent",
                                                                 "recurrent", "cross",  "shared", "none"};

/// Layers that are alike in how they mix tokens.
struct LayerGroup {
  CacheKind kind = CacheKind::full;
  Index layers = 0;
  Index heads = 0, kvHeads = 0, headDim = 0;
  Index valueDim = 0;                ///< 0: headDim
  Index span = 0;                    ///< tokens of a window or chunk; of an encoder of fixed length, else 0
  Index latentDim = 0, ropeDim = 0;  ///< kept of each token instead of keys and values
  Index indexDim = 0;                ///< of the key that sparse attention chooses tokens by
  Index state = 0;                   ///< numbers that are kept of a sequence, however long it is
  bool state32 = false;              ///< in 32 bits, whatever the cache's format
  std::uint64_t parameters = 0;      ///< of one layer
  bool operator==(const LayerGroup&) const = default;
};

/// Layers that are alike in their feed-forward part.
struct FeedForward {
  Index layers = 0, innerDim = 0;        ///< innerDim: of each expert, where there are some
  Index experts = 0, activeExperts = 0;  ///< 0: dense
  Index sharedDim = 0;                   ///< inner dimensions that every token goes through besides
  bool gated = false;                    ///< three matrices instead of two
  bool encoder = false;                  ///< takes no part in decoding
  bool operator==(const FeedForward&) const = default;
};

/// The sizes of a model that decide what it costs. Counts are per layer unless they say otherwise.
struct ModelShape {
  std::string name = {};
  Index layers = 0, modelDim = 0, heads = 0;
  Index kvHeads = 0;                    ///< divides heads; with a latent the heads that are made of it
  Index headDim = 0;                    ///< of queries and keys, and of values where valueDim is 0
  Index context = 0;                    ///< tokens it was made for
  bool contextKnown = true;             ///< whether that is published, or only assumed
  Index window = 0;                     ///< tokens that a sliding layer keeps; 0: every layer keeps all
  Index globalLayers = 0;               ///< with a window: layers that keep all tokens nevertheless
  Index latentDim = 0, ropeDim = 0;     ///< multi-head latent attention caches these instead of K and V
  Index queryLatent = 0, valueDim = 0;  ///< of the same: its queries come from a latent too
  bool decodes = true;                  ///< encoders keep no cache

  Index innerDim = 0;  ///< of the feed-forward part, where it is dense
  bool gated = false;  ///< three matrices instead of two
  Index vocabulary = 0;
  Index positions = 0;    ///< rows of learned positions
  bool tied = false;      ///< the head is the embedding table
  Index denseLayers = 0;  ///< with experts: layers that have none
  Index experts = 0, activeExperts = 0, sharedExperts = 0, expertDim = 0;  ///< mixture of experts; 0: dense

  /// The same by kinds of layers. Empty: all layers are as the sizes above say; read through layerGroups()
  /// and feedForwards().
  std::vector<LayerGroup> groups = {};
  std::vector<FeedForward> feedForward = {};
  std::vector<std::uint8_t> order =
      {};                             ///< the group of each layer that decodes, from the first; may be empty
  std::uint64_t otherParameters = 0;  ///< norms, biases and tables that no size above has

  std::uint64_t aheadParameters =
      0;  ///< of layers that predict further tokens, which its files hold and nobody needs

  WeightFormat weightFormat = WeightFormat::bf16;  ///< in which it is published
  double weightBits = 0;                           ///< of one weight in that format; 0: as it usually has
  std::uint64_t countedParameters = 0, countedBytes = 0;  ///< of its files' headers; 0: estimated from sizes
  std::vector<std::string> notes = {};  ///< what of it is assumed or isn't counted, a sentence each

  std::string source = {};  ///< where these figures are published

  bool isLatent() const { return latentDim > 0; }
  bool operator==(const ModelShape&) const = default;
};

/// Its layers by kind, whether they were given so or as sizes that all layers share.
std::vector<LayerGroup> layerGroups(const ModelShape& shape);
std::vector<FeedForward> feedForwards(const ModelShape& shape);
/// Whether its layers keep different things beside windows, which have words of their own.
bool isHybrid(const ModelShape& shape);

/// The first thing about a shape that can't be, with what was found and what was expected.
Status validate(const ModelShape& shape);

/// Learned numbers by what they do.
struct ShapeParameters {
  std::uint64_t attention = 0;            ///< of all layers, whatever mixes their tokens
  std::uint64_t feedForward = 0;          ///< of all layers and experts
  std::uint64_t activeFeedForward = 0;    ///< that one token goes through
  std::uint64_t embedding = 0, head = 0;  ///< head is the table itself where it is tied
  std::uint64_t active = 0;               ///< that one token uses: all but the experts it isn't sent to
  std::uint64_t experts = 0;              ///< of feedForward: the routed experts
  std::uint64_t encoder = 0;              ///< of attention and feedForward: what decoding leaves out
  std::uint64_t total = 0;                ///< as the files' headers say, where they were read
};
ShapeParameters parametersOf(const ModelShape& shape);
/// Parameters of the attention of one layer: Q d·H·s, K and V d·G·s each, O H·s·d; latent attention's
/// low-rank maps (DeepSeek-AI 2024, DeepSeek-V2, section 2.1).
std::uint64_t attentionParameters(const ModelShape& shape);

/// By name, whatever the case; null where there is none.
const ModelShape* findShape(const std::vector<ModelShape>& shapes, std::string_view name);

}  // namespace headscope::attention
