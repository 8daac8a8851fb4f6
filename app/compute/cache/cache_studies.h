#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/snapshot.h"
#include "app/scene/scene.h"
#include "attention/cache/kv_cache.h"
#include "attention/cache/number_format.h"
#include "attention/cache/paging.h"
#include "attention/core/attention.h"

namespace headscope::app {

/// Pools values [rows, cols] over blocks of rowFactor × colFactor, keeping the value farthest from 0 with its
/// sign; of two opposite values, the positive one. NaN beats every value; the marks of absent cells
/// (render/heatmap.h) lose to every value.
attention::Matrix strongestOf(const Eigen::Ref<const attention::Matrix>& values, Index rowFactor,
                              Index colFactor);

/// The resolution of a cache's picture: how many dimensions and tokens share a pixel.
struct CacheGrain {
  Index dims = 1, tokens = 1;
  bool operator==(const CacheGrain&) const = default;
};
/// Returns the grain that keeps the picture of keys [m, headDim] within `maxRows` × `maxCols` pixels.
CacheGrain cacheGrain(const attention::AttentionResult& result, Index maxRows, Index maxCols);

/// Draws the cached keys and values as bands [2 · kvHeads, rows, cols]: K of kv head g in layer 2g, V in
/// 2g+1; rows start at the first dimension; columns are tokens. Each value is as stored in the cache, divided
/// by the largest |K| (or |V|): −1 to 1. If dimensions or tokens share a pixel, it shows the value farthest
/// from 0. The result is incomplete if `stop` is requested.
attention::Stack cachePicture(const attention::AttentionResult& result, CacheGrain grain,
                              attention::NumberFormat stored = attention::NumberFormat::fp32,
                              std::stop_token stop = {});

/// The cache to draw on the cache page, and its resolution.
struct FieldQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< not null; has sequences
  Index sequence = 0;
  attention::NumberFormat stored = attention::NumberFormat::fp16;
  Index maxRows = 32;    ///< the most pixels of a band
  Index maxCols = 1024;  ///< the most pixels of all tokens
  bool operator==(const FieldQuestion&) const = default;
};

/// The cached keys and values, and what each decode step reads and computes.
struct CacheField {
  attention::Stack picture;  ///< from cachePicture()
  CacheGrain grain;

  // For each token, as if decoded alone; empty unless the snapshot is causal:
  std::vector<Index> read;            ///< cache entries it reads, over all kv heads
  std::vector<double> flops;          ///< operations with the cache: projections, scores, softmax, sum
  std::vector<double> uncachedFlops;  ///< without the cache: the sum for all tokens up to it
};

/// Pure. The result is incomplete if `stop` is requested.
CacheField makeCacheField(const FieldQuestion& question, std::stop_token stop = {});

// Studies of the cache page's other views: the layer recomputed with a smaller cache.

/// The largest side of a picture in pixels; cells that share a pixel are pooled.
inline constexpr Index kStudyPixels = 384;

/// The distance of outputs from those of the full cache: ‖Δ‖/‖o‖ over all heads.
struct OutputError {
  double all = 0;                ///< over the whole sequence
  std::vector<double> perToken;  ///< [n]
};

// --- Precision -------------------------------------------------------------------------------------------

struct PrecisionQuestion {
  std::shared_ptr<const Snapshot> snapshot;
  Index sequence = 0, head = 0;
  bool operator==(const PrecisionQuestion&) const = default;
};

struct PrecisionCase {
  attention::NumberFormat format = attention::NumberFormat::fp32;
  std::uint64_t bytes = 0;         ///< of one token's keys and values in the layer, including scales
  double weightError = 0;          ///< largest |Δw| over all heads
  std::vector<double> headErrors;  ///< [heads] largest |Δw| of each
  OutputError output;
};
struct PrecisionStudy {
  std::array<PrecisionCase, attention::kRoundedFormats> cases;  ///< in the order of the formats
  attention::Stack keys;  ///< [cases, dims, tokens] the head's keys as stored, over their largest: −1 to 1
  attention::Stack differences;  ///< [cases, n, n] |Δw| of the head, max-pooled
  float mostDifference = 0;
  MemoryShare memory;  ///< of the pictures
};
/// Pure, like the other studies here. Returns an Error if recomputing the heads would exceed the memory
/// budget, or "stopped" if `stop` is requested.
attention::Result<PrecisionStudy> studyPrecision(const PrecisionQuestion& question,
                                                 const Resources& resources, std::stop_token stop);

// --- One layer, four shapes ------------------------------------------------------------------------------

/// Returns the numbers of kv heads that `most` kv heads can be merged into, strictly between 1 and `most`:
/// ascending; none if `most` is prime.
std::vector<Index> mergesBetween(Index most);
/// Returns the kv heads of the shape in the middle: a synthetic layer's own number, or `merged` for a loaded
/// layer; if that isn't strictly between, the largest number that is. 0 = there is no shape between.
Index mergedKvHeads(const Setup& setup, const attention::AttentionConfig& config, Index merged);

struct ShapesQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< of the unchanged layer
  Index sequence = 0, head = 0;
  Index kvHeads = 1;  ///< of the shape in between; 0, or any number not strictly between = there is none
  Index latent = 64, rotary = 16;
  bool operator==(const ShapesQuestion&) const = default;
};

struct ShapeCase {
  std::string name;              ///< "MHA", "GQA", "MQA", "MLA"
  std::string missing;           ///< why it can't be computed; "" = it was
  Index kvHeads = 0;             ///< 0 = a latent
  Index latent = 0, rotary = 0;  ///< numbers in the latent and in the rotary key next to it
  Index numbersPerToken = 0;     ///< cached by the layer
  std::uint64_t parameters = 0;
  OutputError output;  ///< compared with MHA
};
struct ShapesStudy {
  /// The largest available number of kv heads, the shape in between, one kv head, and a latent, without
  /// duplicates.
  std::vector<ShapeCase> cases;
  attention::Stack weights;  ///< [cases, n, m] of the head, pooled
  MemoryShare memory;
};
/// Returns the question that the scene's settings ask about a line and a head.
ShapesQuestion shapesQuestion(const Scene& scene, std::shared_ptr<const Snapshot> snapshot, Index sequence,
                              Index head);
attention::Result<ShapesStudy> studyShapes(const ShapesQuestion& question, Resources& resources,
                                           std::stop_token stop);

// --- Eviction --------------------------------------------------------------------------------------------

struct EvictionQuestion {
  std::shared_ptr<const Snapshot> snapshot;
  Index sequence = 0, head = 0;
  std::array<attention::EvictionRules, 2> rules;
  bool operator==(const EvictionQuestion&) const = default;
};
struct EvictionCase {
  attention::EvictionRules rules;
  std::vector<double> massLost;     ///< [n] mean over heads
  std::vector<double> outputError;  ///< [n]
  std::vector<Index> entries;       ///< [n] over all kv heads
};
struct EvictionStudy {
  std::array<EvictionCase, 2> cases;
  attention::Stack weights;  ///< [2, n, n] of the head, pooled; evicted cells are dead, masked ones masked
  MemoryShare memory;
};
EvictionQuestion evictionQuestion(const Scene& scene, std::shared_ptr<const Snapshot> snapshot,
                                  Index sequence, Index head);
attention::Result<EvictionStudy> studyEviction(const EvictionQuestion& question, const Resources& resources,
                                               std::stop_token stop);

// Helpers shared by the cache studies.

/// Reserves memory to recompute the heads of a line several times. Returns an Error that states the need if
/// it isn't free.
attention::Result<MemoryShare> studyMemory(const attention::AttentionConfig& config,
                                           const SequenceSnapshot& sequence, const Resources& resources,
                                           std::stop_token stop);
/// Returns a picture's side after pooling `size` cells to at most kStudyPixels.
Index pooledSide(Index size);
/// Pools values into one picture of a stack.
void intoPicture(const Eigen::Ref<const attention::Matrix>& values, attention::Stack& pictures, Index at);
/// Counts the memory of the pictures in the budget.
MemoryShare pictureMemory(std::initializer_list<const attention::Stack*> pictures,
                          const Resources& resources);
/// Returns ‖Δ‖/‖o‖ of two stacks of heads' outputs [heads, n, headDim].
OutputError outputError(const attention::Stack& full, const attention::Stack& other);
/// Recomputes the heads with other keys and values [kvHeads, m, headDim] under the same mask, without
/// dropout. The result covers the line's own tokens, without padding.
attention::AttentionResult attendAgain(const SequenceSnapshot& sequence, attention::AttentionConfig config,
                                       attention::Stack k, attention::Stack v, std::stop_token stop);

/// Heads whose keys and values come from a latent, and the numbers per token in it.
struct LatentHeads {
  attention::AttentionResult result;
  Index latent = 0, rotary = 0;
};
/// Converts a finished layer to latent attention by factoring its projections; its queries stay. Rotated keys
/// get a rotary part of `rotary` numbers, or fewer if fewer dimensions are rotated; other keys get none.
/// Returns an Error if the layer is too large to factor, rotates neighbouring dimensions, or has invalid
/// text, weights or model, or "stopped" if `stop` is requested.
attention::Result<LatentHeads> attendLatent(const std::shared_ptr<const Snapshot>& snapshot, Index line,
                                            Index latent, Index rotary, Resources& resources,
                                            std::stop_token stop);

/// A schedule as typed, and the block size for paging.
struct PagingQuestion {
  std::string schedule;
  attention::Index block = 16;
  bool operator==(const PagingQuestion&) const = default;
};

struct PagingStudy {
  std::vector<attention::PagedRequest> requests;
  std::vector<attention::PagedStep> steps;
  attention::Index mostBlocks = 0;      ///< peak number of blocks in use
  attention::Index mostContiguous = 0;  ///< peak, in tokens
  attention::Index longest = 0;         ///< tokens of the longest request, prompt and answer
  MemoryShare memory;                   ///< of the steps
};

/// Pure. Returns an Error if the schedule can't be read or its steps exceed the memory budget.
attention::Result<PagingStudy> studyPaging(const PagingQuestion& question, const MemoryBudget& memory,
                                           std::stop_token stop = {});

/// Bytes per token in the cache, over the layers and in the storage format of scene.cost.cache: for the layer
/// itself, and for MHA, MQA and latent attention. int8 and int4 include their scales
/// (attention/cache/kv_cache.h).
struct CacheBytes {
  std::uint64_t own = 0, mha = 0, mqa = 0, mla = 0;
};
CacheBytes bytesPerToken(const Scene& scene, const attention::AttentionConfig& config);
/// The same for one of the four shapes.
std::uint64_t bytesPerToken(const Scene& scene, const ShapeCase& shape);
/// Return the layer's own latent sizes, or otherwise those of DeepSeek: 4·headDim for keys and values,
/// headDim/2 for positions.
Index latentDimOf(const attention::AttentionConfig& config);
Index rotaryDimOf(const attention::AttentionConfig& config);
/// Returns a sentence such as "GQA (2 kv heads) is ¼ of MHA."
std::string shareText(const attention::AttentionConfig& config, const CacheBytes& bytes);

/// Returns the bytes of the keys and values of `tokens` tokens of every line if the layer had `kvHeads` kv
/// heads. Lines are padded to the same length, in the cache too.
double cacheBytes(const Snapshot& snapshot, Index kvHeads, Index tokens, Index bytesPerValue);
/// The same for latent attention with the sizes of app/compute/cache/cache_studies.h.
double latentCacheBytes(const Snapshot& snapshot, Index tokens, Index bytesPerValue);
/// Returns "+2.5 KiB per token = 2 · 4 kv heads · 16 · 4 B · 5 lines". For cross-attention, where decoding
/// adds nothing, gives the bytes of all `tokens` tokens of the context.
std::string cacheFormula(const Snapshot& snapshot, Index tokens, Index bytesPerValue);

/// Returns how far outputs [n, modelDim] of a cached decode and of the full pass may differ if both are
/// correct. They round the same sums in a different order, and rounding a sum of t terms is off by about √t
/// epsilons (Higham & Mary 2019): a score by that times ‖q‖·‖k‖, a softmax by twice the error of its scores,
/// and an output by that of the largest one, over its keys and dimensions. The program and its tests treat
/// smaller differences as equal.
float decodeTolerance(const attention::AttentionConfig& config, const SequenceSnapshot& sequence);

/// The decode to prove: of one line of a snapshot that decodes, with its prefill processed in chunks of
/// `chunk` tokens.
struct ProofQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< not null
  Index sequence = 0;
  Index chunk = 0;  ///< 0 = all at once
  bool operator==(const ProofQuestion&) const = default;
};

/// The whole sequence run through a KV cache, compared with the full pass: outputs [n, headDim] of all heads.
struct DecodeProof {
  Index prefill = 0;        ///< tokens processed before the first step; 0 = nothing can be decoded
  Index steps = 0;          ///< single tokens after the prefill
  Index left = 0;           ///< steps skipped because they would take too long
  float maxDifference = 0;  ///< largest |Δ|; NaN if either output is
  float tolerance = 0;      ///< the difference that rounding can explain

  // Position and values of the largest difference:
  Index head = 0, token = 0;
  float cached = 0, full = 0;  ///< the same number, computed both ways

  bool holds() const { return maxDifference <= tolerance; }
};

/// Pure. The result is incomplete if `stop` is requested.
DecodeProof proveDecode(const ProofQuestion& question, Resources& resources, std::stop_token stop = {});

}  // namespace headscope::app
