#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/cache/model_shape.h"
#include "attention/cache/number_format.h"

namespace headscope::attention {

// What a model's KV cache and attention cost. Bytes and operations that do not fit into 64 bits are the
// largest number; from kTooManyBytes on nobody shows a figure.

inline constexpr std::uint64_t kTooManyBytes = std::uint64_t{1} << 63;

/// Bytes of `values` numbers, rounded up to whole ones, without scales.
std::uint64_t bytesOf(std::uint64_t values, NumberFormat format);
/// A product that stays at the largest number.
std::uint64_t saturatingTimes(std::uint64_t a, std::uint64_t b);

struct CostRequest {
  Index tokens = 1;                          ///< of each sequence, prompt and answer
  Index batch = 1;                           ///< sequences
  NumberFormat format = NumberFormat::bf16;  ///< of the cache
  Index block = 16;                          ///< tokens of a page
  Index tensorParallel = 1;                  ///< GPUs that share every layer
  WeightFormat weights = WeightFormat::published;
  MathFormat math = MathFormat::weights;
};

/// Neither of them the first, which stands for another.
WeightFormat weightFormatOf(const ModelShape& shape, const CostRequest& request);
MathFormat mathFormatOf(const ModelShape& shape, const CostRequest& request);
/// Bytes of all weights: those of the files where they were counted and no other format is asked for.
std::uint64_t weightBytes(const ModelShape& shape, const CostRequest& request);

/// Numbers that a layer keeps of each token: kvHeads · (headDim + valueDim), with a factor 2 where both are
/// the same (Pope et al. 2022, section 3.3); latentDim + ropeDim under latent attention (DeepSeek-AI 2024,
/// DeepSeek-V2, section 2.1.4), no factor 2; none where nothing is kept of each token.
std::uint64_t cachedNumbers(const LayerGroup& group);
/// Tokens of a sequence of `tokens` that a layer keeps: all, the last `span`, those of the encoder, or none.
Index keptTokens(const LayerGroup& group, Index tokens);
/// The same in whole pages of `block`. A window begins and ends within a page, which takes one more.
Index reservedTokens(const LayerGroup& group, Index tokens, Index block);
/// Bytes of a group's states for `batch` sequences, in 16 bits or more, whatever the cache's format.
std::uint64_t stateBytes(const LayerGroup& group, Index batch, NumberFormat format);

/// Tokens that all layers hold together of a sequence: Σ keptTokens.
std::uint64_t cachedTokens(const ModelShape& shape, Index tokens);
/// Bytes of the cache: Σ layers · (cachedNumbers · keptTokens + state) · bytes · batch.
std::uint64_t cacheBytes(const ModelShape& shape, Index tokens, Index batch, NumberFormat format);

/// What the layers of one kind hold.
struct LayerGroupCost {
  LayerGroup group;
  Index tokens = 0;  ///< that each of them keeps of a sequence
  /// Reserved are whole pages. A page that has left a window is free again, as in engines that keep a block
  /// table for each kind of layer.
  std::uint64_t bytes = 0, reserved = 0, reservedPerGpu = 0;
  Index copies = 1;  ///< GPUs that each kv head, or the latent, lies on
};
/// Throws std::invalid_argument where the shape doesn't split.
std::vector<LayerGroupCost> layerCosts(const ModelShape& shape, const CostRequest& request);

/// How many of `tensorParallel` GPUs a shape's heads can be split over: success, or why they can't.
Status splits(const ModelShape& shape, Index tensorParallel);
/// `wanted` where they can, else the largest power of two below it that they can.
Index nearestSplit(const ModelShape& shape, Index wanted);

struct CacheCost {
  std::uint64_t perToken = 0;  ///< of one sequence, while no window is full; states and encoders not counted
  std::uint64_t total = 0, reserved = 0;
  std::uint64_t perGpu = 0, reservedPerGpu = 0;
  std::uint64_t weights = 0, weightsPerGpu = 0;
  Index kvHeadsPerGpu = 0;
  Index copies = 1;                ///< GPUs that each kv head, or the latent, lies on
  std::uint64_t copiedPerGpu = 0;  ///< of perGpu: what another GPU keeps too, beyond an even share
};
/// Throws std::invalid_argument where the shape doesn't split.
CacheCost cacheCost(const ModelShape& shape, const CostRequest& request);

/// The shape with other kv heads, without windows and latent: what it would be as MHA, GQA or MQA.
ModelShape withKvHeads(ModelShape shape, Index kvHeads);

/// The shape had its layers no windows and chunks.
ModelShape withoutSpans(ModelShape shape);

/// How the pairs of query and key are counted.
enum class PairCount {
  causal,  ///< n(n+1)/2, and in sliding layers those within the window; of encoders all the same
  all,     ///< n²
};

/// Operations, a multiplication and an addition as 2.
struct PrefillWork {
  double projections = 0, feedForward = 0;
  double scores = 0, weightedSum = 0, softmax = 0;
  double recurrent = 0;  ///< updates of states: 6 operations for each number and token
  double head = 0;       ///< of the last token alone
  double attention() const { return scores + weightedSum; }
  double total() const { return projections + feedForward + attention() + recurrent + head; }
};
/// Of `tokens` tokens at once. Scores are 2·H·s for each pair, the weighted sum the same, the softmax 5·H.
/// Keys and values of a latent are unpacked once for each token, which is part of the projections.
PrefillWork prefillWork(const ModelShape& shape, Index tokens, PairCount pairs = PairCount::causal);

/// The first number of tokens at which scores and weighted sum are as much as the projections (with
/// `feedForward`: as these and the feed-forward part); nothing where they never are.
std::optional<Index> attentionOvertakes(const ModelShape& shape, bool feedForward, PairCount pairs);

/// One step of decoding: every sequence of the batch gets a token more.
struct DecodeWork {
  double flops = 0;
  double weightBytes = 0;  ///< read once for the batch; the embedding table is only looked up
  double cacheBytes =
      0;  ///< of each sequence, by all GPUs together: a copied kv head is read by each of them
  double bytes() const { return weightBytes + cacheBytes; }
  double intensity() const { return bytes() > 0 ? flops / bytes() : 0; }
};
/// Latent attention is decoded absorbed: nothing that is cached is unpacked (DeepSeek-AI 2024, DeepSeek-V2,
/// section 2.1.2). With headDim s, valueDim v, ropeDim r and latentDim c each of H heads takes
///   q·W_UK             2·s·c          once, as much as the unpacking of one token's key,
///   q·[latent, rotary] 2·(c + r)      for each cached token,
///   Σ weight·latent    2·c            for each cached token,
///   ·W_UV              2·c·v          once, as much as the unpacking of one token's value.
/// Under a mixture of experts the weights are those of the experts that a batch reaches on average when each
/// token picks them at random: E·(1 − (1 − k/E)^batch).
DecodeWork decodeWork(const ModelShape& shape, const CostRequest& request);

}  // namespace headscope::attention
