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

/// The description of a mistake. The fix is one line of PyTorch: `before`, `added` (missing in the mistake)
/// and `after`.
struct MistakeInfo {
  Mistake mistake;
  std::string_view key;      ///< name in tests: "no_scale"
  std::string_view group;    ///< "Scale"
  std::string_view title;    ///< "No ÷√dₖ"
  std::string_view symptom;  ///< in a few words
  std::string_view sentence;
  std::string_view caption;       ///< `sentence` in one line, for a lecture hall
  std::string_view wrong, right;  ///< formulas
  std::string_view before, added, after;
};

/// Returns all mistakes, in the order of Mistake.
std::span<const MistakeInfo> mistakes();

/// The input of a mistake: one layer's queries and keys, and what its head may see.
struct MistakeInput {
  Stack q;         ///< [heads, n, headDim]
  Stack k;         ///< [kvHeads, m, headDim]; kvHeads divides heads
  Index head = 0;  ///< the head to examine
  Index modelDim = 0;
  float scale = 1;        ///< of the right scores: 1/√headDim
  Matrix visible;         ///< [n, m] 1 = visible, 0 = hidden
  Index paddedFrom = -1;  ///< keys from here on are padding; −1 = none
  Index paddedUpTo = 0;   ///< keys before this one are padding (left padding); 0 = none
};

/// A number that reveals a mistake.
struct MistakeMeasure {
  std::string name;
  double wrong = 0, right = 0;
};

/// Two shapes that don't fit, and the indices of the sizes that clash.
struct ShapeClash {
  std::string leftName, rightName;
  std::vector<Index> left, right;
  std::size_t leftAt = 0, rightAt = 0;
  std::string message;  ///< PyTorch's error message
};

/// The wrong and the right result. Scores are those before the softmax, −inf where masked.
struct MistakeResult {
  Matrix wrongScores, wrongWeights, rightScores, rightWeights;  ///< [n, m]; wrong ones empty on a clash
  std::vector<MistakeMeasure> measures;
  std::string same;  ///< why both results are the same, in a few words; empty if they differ
  /// Replaces the table's symptom if the mistake looks different on this input; otherwise empty.
  std::string symptom;
  std::optional<ShapeClash> clash;
};

/// Computes a mistake. Throws std::invalid_argument if the shapes of the input don't fit together.
MistakeResult makeMistake(Mistake mistake, const MistakeInput& input);

/// Returns a random causal layer that shows the mistake: `tokens` Gaussian tokens through Xavier weights,
/// deterministic for a given `seed`. `headDim` is used for mistakes about scale; others have 8 heads of
/// size 32 over 2 kv heads.
MistakeInput demonstration(Mistake mistake, Index tokens, Index headDim, std::uint64_t seed);

/// Returns the mean of each row's largest weight, over rows that see two keys or more.
double meanLargestWeight(const Matrix& weights, const Matrix& visible);
/// The same for the entropy ratio H_i / ln(visible_i): 1 = even, 0 = a single key.
double meanEntropy(const Matrix& weights, const Matrix& visible);

/// The effect of the head size on the weights of random layers, with the wrong and the right scale.
struct SaturationPoint {
  Index headDim = 0;
  double wrongLargest = 0, rightLargest = 0, wrongEntropy = 0, rightEntropy = 0;
};
/// Returns for each head size the means over one head of `layers` random layers with `tokens` tokens and
/// normally distributed maps of Xavier's variance. For mistakes about scale. The result is undefined once
/// `stop` is requested.
std::vector<SaturationPoint> saturation(Mistake mistake, std::span<const Index> headDims, Index tokens,
                                        Index layers, std::stop_token stop = {});

}  // namespace headscope::attention
