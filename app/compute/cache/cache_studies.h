#pragma once

#include <array>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"
#include "attention/cache/eviction.h"
#include "attention/cache/number_format.h"

namespace headscope::app {

// What the cache page's other views compute: the layer again with a cache that holds less.

/// A picture's side in pixels at the most; cells that share one are pooled.
inline constexpr Index kStudyPixels = 384;

/// How far outputs are from the full cache's: ‖Δ‖/‖o‖ over all heads.
struct OutputError {
  double all = 0;                ///< of the whole sequence
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
  std::uint64_t bytes = 0;  ///< of one token's keys and values in the layer, scales included
  double weightError = 0;   ///< largest |Δw| of all heads
  OutputError output;
};
struct PrecisionStudy {
  std::array<PrecisionCase, attention::kNumberFormats.size()> cases;  ///< in the order of the formats
  attention::Stack keys;  ///< [cases, dims, tokens] the head's keys as stored, over their largest: −1 to 1
  attention::Stack differences;  ///< [cases, n, n] |Δw| of the head, pooled by the largest
  float mostDifference = 0;
  MemoryShare memory;  ///< of the pictures
};
/// Pure, as the others: an error where memory for the heads once more is over the budget.
attention::Result<PrecisionStudy> studyPrecision(const PrecisionQuestion& question,
                                                 const Resources& resources, std::stop_token stop);

// --- One layer, four shapes ------------------------------------------------------------------------------

/// Kv heads that `most` can be merged into and are neither those nor one: ascending, none where `most` is a
/// prime.
std::vector<Index> mergesBetween(Index most);
/// Kv heads of the shape in the middle: a layer made here has its own, those of one that was opened are
/// merged as `merged` says; the most there can be where that is none between. 0: there is no shape between.
Index mergedKvHeads(const Setup& setup, const attention::AttentionConfig& config, Index merged);

struct ShapesQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< of the layer as it is
  Index sequence = 0, head = 0;
  Index kvHeads = 1;  ///< of the one in between; 0, or none that is between: there is none
  Index latent = 64, rotary = 16;
  bool operator==(const ShapesQuestion&) const = default;
};

struct ShapeCase {
  std::string name;              ///< "MHA", "GQA", "MQA", "MLA"
  std::string missing;           ///< why it can't be computed; "" = it was
  Index kvHeads = 0;             ///< 0: a latent
  Index latent = 0, rotary = 0;  ///< numbers of the latent, and of the rotary key beside it
  Index numbersPerToken = 0;     ///< that the layer caches
  std::uint64_t parameters = 0;
  OutputError output;  ///< against MHA
};
struct ShapesStudy {
  /// What the layer has at most, the one in between, one kv head, and a latent: none twice.
  std::vector<ShapeCase> cases;
  attention::Stack weights;  ///< [cases, n, m] of the head, pooled
  MemoryShare memory;
};
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
  std::vector<Index> entries;       ///< [n] of all kv heads
};
struct EvictionStudy {
  std::array<EvictionCase, 2> cases;
  attention::Stack weights;  ///< [2, n, n] of the head, pooled; evicted cells are dead, masked ones masked
  MemoryShare memory;
};
attention::Result<EvictionStudy> studyEviction(const EvictionQuestion& question, const Resources& resources,
                                               std::stop_token stop);

}  // namespace headscope::app
