#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// The classic mistakes in writing attention.
enum class Mistake {
  noScale,
  modelScale,
  wrongAxis,
  noMaximum,
  upperTriangle,
  maskAfter,
  maskAfterRenormalised,
  paddingSeen,
  halfInfinity,
  viewWithoutTranspose,
  kvTiled,
  keyNotTransposed,
  notDivisible
};

/// A mistake in words. The fix is one line of PyTorch: `before`, `added` (what the mistake lacks) and
/// `after`.
struct MistakeInfo {
  Mistake mistake;
  std::string_view key;      ///< in tests: "no_scale"
  std::string_view group;    ///< "Scale"
  std::string_view title;    ///< "No ÷√dₖ"
  std::string_view symptom;  ///< in a few words
  std::string_view sentence;
  std::string_view caption;       ///< the same for one line in a hall
  std::string_view wrong, right;  ///< formulas
  std::string_view before, added, after;
};

/// All of them, in the order of Mistake.
std::span<const MistakeInfo> mistakes();

/// What a mistake is made on: one layer's queries and keys, and what its head may see.
struct MistakeInput {
  Stack q;         ///< [heads, n, headDim]
  Stack k;         ///< [kvHeads, m, headDim]; kvHeads divides heads
  Index head = 0;  ///< that is looked at
  Index modelDim = 0;
  float scale = 1;        ///< of the right scores: 1/√headDim
  Matrix visible;         ///< [n, m] 1 where the head may read, 0 where it may not
  Index paddedFrom = -1;  ///< keys from here on are padding; −1: none are
  Index paddedUpTo = 0;   ///< keys before this one are padding: left-padded
};

/// A number to know a mistake by.
struct MistakeMeasure {
  std::string name;
  double wrong = 0, right = 0;
};

/// Two shapes that don't fit, and which of their numbers clash.
struct ShapeClash {
  std::string leftName, rightName;
  std::vector<Index> left, right;
  std::size_t leftAt = 0, rightAt = 0;
  std::string message;  ///< as PyTorch says it
};

/// A mistake beside the right result. Scores are −inf where the mask hides them, before the softmax.
struct MistakeResult {
  Matrix wrongScores, wrongWeights, rightScores, rightWeights;  ///< [n, m]; the wrong ones empty with a clash
  std::vector<MistakeMeasure> measures;
  std::string same;  ///< why nothing differs here, in a few words; empty where it does
  /// In place of the table's, where the mistake shows in another way on this input; else empty.
  std::string symptom;
  std::optional<ShapeClash> clash;
};

/// Throws std::invalid_argument where the shapes of the input don't fit each other.
MistakeResult makeMistake(Mistake mistake, const MistakeInput& input);

/// A random layer on which the mistake shows: Gaussian tokens through Xavier weights, `tokens` of them,
/// causal. `headDim` sets the head's dimension where the mistake is about scale; others have 8 heads of 32
/// over 2 kv heads. Deterministic in `seed`.
MistakeInput demonstration(Mistake mistake, Index tokens, Index headDim, std::uint64_t seed);

/// Mean over rows that see two keys or more.
double meanLargestWeight(const Matrix& weights, const Matrix& visible);
/// The same of H_i / ln(visible_i): 1 is even, 0 one key.
double meanEntropy(const Matrix& weights, const Matrix& visible);

/// What a dimension does to the weights of random layers, with scaling and without.
struct SaturationPoint {
  Index headDim = 0;
  double wrongLargest = 0, rightLargest = 0, wrongEntropy = 0, rightEntropy = 0;
};
/// Means over `layers` random layers of `tokens` tokens, for each dimension: normal maps of Xavier's
/// variance, of which one head is looked at. Of the mistakes about scale. Once `stop` is requested the result
/// is undefined.
std::vector<SaturationPoint> saturation(Mistake mistake, std::span<const Index> headDims, Index tokens,
                                        Index layers, std::stop_token stop = {});

}  // namespace headscope::attention
