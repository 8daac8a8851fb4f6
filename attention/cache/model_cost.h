#pragma once

#include <optional>
#include <vector>

#include "attention/cache/number_format.h"
#include "attention/core/result.h"

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
  Index matrixBytes = 0;  ///< of a scale that each quantised matrix has besides
  bool known = true;      ///< false: a quantisation that isn't known, for which the rest stands
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

/// A size of a shape, under its name in files and messages.
struct ShapeSize {
  const char* name;
  Index ModelShape::*member;
  Index least = 0;
  bool attends = false;  ///< 0 is allowed too if no layer attends
};
std::span<const ShapeSize> shapeSizes();

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

/// The list assets/catalogue/LIST.json of published models, types of models or machines, as its text.
std::string_view catalogueText(std::string_view list);

/// Finds a shape by name, ignoring case; null if there is none.
const ModelShape* findShape(const std::vector<ModelShape>& shapes, std::string_view name);

// The cost of a model's KV cache and attention. Bytes and counts that don't fit in 64 bits saturate; figures
// from kTooManyBytes on are not shown.

inline constexpr std::uint64_t kTooManyBytes = std::uint64_t{1} << 63;

/// Returns the bytes of `values` numbers, rounded up to whole bytes. Scales of groups within a row are
/// counted, in whole groups; scales of whole rows are not.
std::uint64_t bytesOf(std::uint64_t values, NumberFormat format);
/// Returns a · b, or the largest number if it overflows.
std::uint64_t saturatingMultiply(std::uint64_t a, std::uint64_t b);
/// Throws std::invalid_argument if a size is negative.
std::uint64_t unsignedOf(Index size);
/// Adds to a sum, which becomes the largest number if it overflows.
void addTo(std::uint64_t& sum, std::uint64_t more);

struct CostRequest {
  Index tokens = 1;                          ///< per sequence, prompt and answer
  Index batch = 1;                           ///< sequences
  NumberFormat format = NumberFormat::bf16;  ///< of the cache
  Index block = 16;                          ///< tokens per page
  Index tensorParallel = 1;                  ///< GPUs that share every layer
  WeightFormat weights = WeightFormat::published;
  MathFormat math = MathFormat::weights;
};

/// The formats actually used: `published` and `weights` are replaced by the formats they stand for.
WeightStorage storageOf(const ModelShape& shape, const CostRequest& request);
MathFormat mathFormatOf(const ModelShape& shape, const CostRequest& request);
/// Whether the bytes of the weights are those of the model's files.
bool isCounted(const ModelShape& shape, const CostRequest& request);
/// Returns the bytes of all weights: the files' own bytes if they were counted and the request doesn't change
/// the format, otherwise an estimate.
std::uint64_t weightBytes(const ModelShape& shape, const CostRequest& request);

/// Returns the count of numbers cached for a token in a layer: kvHeads · (headDim + valueDim), so a factor of
/// 2 if both are the same (Pope et al. 2022, section 3.3); latentDim + ropeDim, without a factor of 2, for
/// latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1.4); plus indexDim for both. 0 if nothing is
/// cached per token.
std::uint64_t cachedNumbers(const LayerGroup& group);
/// Returns how many of a sequence's `tokens` a layer caches: all, the last `span`, the encoder's, or none.
Index keptTokens(const LayerGroup& group, Index tokens);
/// The same in whole pages of `block` tokens. A window may begin and end within a page, which takes one more.
Index reservedTokens(const LayerGroup& group, Index tokens, Index block);
/// Returns the bytes of a group's states for `batch` sequences, with at least 16 bits per number even if the
/// cache's format has fewer.
std::uint64_t stateBytes(const LayerGroup& group, Index batch, NumberFormat format);

/// Returns the tokens of one sequence cached by all layers together: Σ layers · keptTokens.
std::uint64_t cachedTokens(const ModelShape& shape, Index tokens);
/// Returns the bytes of the cache: Σ layers · (cachedNumbers · keptTokens + state) · bytes · batch.
std::uint64_t cacheBytes(const ModelShape& shape, Index tokens, Index batch, NumberFormat format);

/// The cache of all layers of one kind.
struct LayerGroupCost {
  LayerGroup group;
  Index tokens = 0;  ///< cached per layer and sequence
  /// Reserved bytes are those of whole pages. Pages that have left a window are freed, as in engines with one
  /// block table per kind of layer.
  std::uint64_t bytes = 0, perGpu = 0, reserved = 0, reservedPerGpu = 0;
  Index copies = 1;  ///< GPUs that store each kv head, or the latent
};
/// Throws std::invalid_argument if the shape can't be split over the GPUs.
std::vector<LayerGroupCost> layerCosts(const ModelShape& shape, const CostRequest& request);

/// Returns an Error with the reason if a shape's heads can't be split over `tensorParallel` GPUs.
Status splits(const ModelShape& shape, Index tensorParallel);
/// Returns `wanted` if the heads can be split over that many GPUs, else the largest possible power of two
/// below it.
Index nearestSplit(const ModelShape& shape, Index wanted);

struct CacheCost {
  std::uint64_t perToken = 0;  ///< in one sequence, before any window is full; without states and encoders
  std::uint64_t total = 0, reserved = 0;
  std::uint64_t perGpu = 0, reservedPerGpu = 0;
  std::uint64_t weights = 0, weightsPerGpu = 0;
  Index kvHeadsPerGpu = 0;
  Index copies = 1;                ///< GPUs that store each kv head, or the latent; the largest of all layers
  std::uint64_t copiedPerGpu = 0;  ///< part of perGpu that exceeds an even share because of copies
};
/// Throws std::invalid_argument if the shape can't be split over the GPUs.
CacheCost cacheCost(const ModelShape& shape, const CostRequest& request);

/// Returns the shape with other kv heads and without windows and latent: as MHA, GQA or MQA.
ModelShape withKvHeads(ModelShape shape, Index kvHeads);

/// Returns the shape without windows and chunks.
ModelShape withoutSpans(ModelShape shape);

/// How pairs of query and key are counted.
enum class PairCount {
  causal,  ///< n(n+1)/2, in sliding layers those within the window; for encoders as `all`
  all,     ///< n², in sliding layers n · window
};

/// Operations; a multiplication and an addition count as 2.
struct PrefillWork {
  double projections = 0, feedForward = 0;
  double scores = 0, weightedSum = 0, softmax = 0;
  double recurrent = 0;  ///< state updates: 6 operations per number and token
  double head = 0;       ///< for the last token only
  double attention() const { return scores + weightedSum; }
  double total() const { return projections + feedForward + attention() + recurrent + head; }
};
/// Returns the work for `tokens` tokens at once. Per pair, scores take 2·H·s operations, the weighted sum the
/// same with the value size, and the softmax 5·H. Unpacking a latent's keys and values, once per token, is
/// part of the projections.
PrefillWork prefillWork(const ModelShape& shape, Index tokens, PairCount pairs = PairCount::causal);

/// Returns the smallest number of tokens at which scores and weighted sum take as much work as the
/// projections (with `feedForward`, plus the feed-forward part); nothing if they never do.
std::optional<Index> attentionOvertakes(const ModelShape& shape, bool feedForward, PairCount pairs);

/// One decode step: every sequence of the batch gets one more token.
struct DecodeWork {
  double flops = 0;
  double weightBytes = 0;  ///< read once per batch; without the embedding table, which is only looked up
  double cacheBytes =
      0;  ///< read for all sequences by all GPUs together; every GPU with a copy of a kv head reads it
  double bytes() const { return weightBytes + cacheBytes; }
  double intensity() const { return bytes() > 0 ? flops / bytes() : 0; }
};
/// Returns the work of a decode step. Latent attention is decoded in absorbed form, without unpacking cached
/// latents (DeepSeek-AI 2024, DeepSeek-V2, section 2.1.2). With headDim s, valueDim v, ropeDim r and
/// latentDim c, each of H heads takes
///   q·W_UK             2·s·c          once, as much as unpacking one token's key,
///   q·[latent, rotary] 2·(c + r)      per cached token,
///   Σ weight·latent    2·c            per cached token,
///   ·W_UV              2·c·v          once, as much as unpacking one token's value.
/// In a mixture of experts, the weights read are those of the experts that a batch reaches on average if each
/// token picks its experts at random: E·(1 − (1 − k/E)^batch).
DecodeWork decodeWork(const ModelShape& shape, const CostRequest& request);

// Shared by the computations of bytes and of operations.

/// Returns the number of GPUs that store each kv head, or the latent: all heads share it, so every GPU has
/// it.
Index copiesOf(const LayerGroup& group, Index gpus);
Index valueDimOf(const LayerGroup& group);
/// Returns the bytes of `group.layers` layers that cache `tokens` tokens each, including their states.
std::uint64_t groupBytes(const LayerGroup& group, Index tokens, Index batch, NumberFormat format);
/// Numbers of parameters by what a format may cover.
struct ParameterParts {
  double layers = 0, experts = 0;  ///< matrices of layers, without routed experts; routed experts
  double embedding = 0, head = 0;
  double others = 0;  ///< norms, biases and small tables
};
/// Returns their bytes in the request's format.
double parameterBytes(const ModelShape& shape, const CostRequest& request, const ParameterParts& parts);
/// Returns the bytes of all parameters that the sizes describe.
double estimatedWeightBytes(const ModelShape& shape, const CostRequest& request);

}  // namespace headscope::attention
