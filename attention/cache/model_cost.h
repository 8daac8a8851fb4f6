#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/cache/model_shape.h"
#include "attention/cache/number_format.h"

namespace headscope::attention {

// The cost of a model's KV cache and attention. Bytes and counts that don't fit in 64 bits saturate; figures
// from kTooManyBytes on are not shown.

inline constexpr std::uint64_t kTooManyBytes = std::uint64_t{1} << 63;

/// Returns the bytes of `values` numbers, rounded up to whole bytes. Scales of groups within a row are
/// counted, in whole groups; scales of whole rows are not.
std::uint64_t bytesOf(std::uint64_t values, NumberFormat format);
/// Returns a · b, or the largest number if it overflows.
std::uint64_t saturatingMultiply(std::uint64_t a, std::uint64_t b);

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
  std::uint64_t bytes = 0, reserved = 0, reservedPerGpu = 0;
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

}  // namespace headscope::attention
