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
  std::uint64_t bytes = 0;  ///< of one token's keys and values in the layer, including scales
  double weightError = 0;   ///< largest |Δw| over all heads
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
attention::Result<EvictionStudy> studyEviction(const EvictionQuestion& question, const Resources& resources,
                                               std::stop_token stop);

}  // namespace headscope::app
