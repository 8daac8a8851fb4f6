#pragma once

#include <span>
#include <string>
#include <vector>

#include "attention/core/projections.h"
#include "attention/core/tensor.h"
#include "attention/text/embedding.h"

namespace headscope::attention {

enum class Behaviour { offset, firstToken, sameToken, localBand, uniform, separator, random, induction };

/// The behaviour planted in one query head.
struct PlantedHead {
  Behaviour behaviour = Behaviour::uniform;
  Index offset = 1;  ///< for Behaviour::offset: looks at i − offset; 1 = previous, 0 = self, −1 = next
  bool operator==(const PlantedHead&) const = default;
};

/// Returns "previous token", "self", "next token", "3 back", "local band", …
std::string describe(const PlantedHead& head);

/// Constructs weights that make each head behave as `heads` says on embeddings in `layout`.
/// heads.size() == config.heads. Heads of a kv group share K, so each kv head's dimensions are divided among
/// the parts its group needs: [flags | sinusoids | identity | previous].
/// - offset, local band: K reads sinusoids and Q reads them rotated back by the offset, with amplitudes
///   fitted so that the softmax is closest to the wanted profile (fitDistanceProfile());
/// - first token, separator: Q reads the constant flag, K the token's flag;
/// - same token: Q and K read identity. If K also has positions, Q uses them to exclude the token itself, so
///   that the head looks for earlier occurrences; without any, it spreads over the other keys;
/// - induction: Q reads identity, K the previous token's identity written by a layer below (Elhage et al.
///   2021, "K-composition"). The first token, which has no previous one, is excluded by its flag. A layer
///   below must be planted with `writesPrevious`; otherwise the head is uniform over the remaining keys;
/// - random: Q is Gaussian over everything in K; uniform: Q = 0.
/// `maxPositions` is the longest sequence for which peaks must be unambiguous; it determines the gains. It is
/// rounded up to a power of two between 64 and 8,192, so that weights don't change as a text grows. The
/// closer it is to the real length, the better the gains of same-token, first-token and separator heads fit.
/// Gains assume a scale of 1/√headDim regardless of config.scale, so that another scale has a visible effect.
/// V and O are Xavier weights from `seed`. In a layout for several layers, O writes only to the layout's last
/// part; with `writesPrevious`, the first previous-token head also carries over as much of that token's
/// identity as fits. With `bias`, Q's and K's biases are zero. Unused K dimensions are filled from identity.
/// Without sinusoids in the embedding, offset and local heads are uniform.
/// Returns an Error, naming the kv head and what its group needs, if headDim is too small.
Result<Projections> plantHeads(const AttentionConfig& config, const EmbeddingLayout& layout,
                               const std::vector<PlantedHead>& heads, bool bias, Index maxPositions,
                               std::uint64_t seed, bool writesPrevious = false);
/// Returns the error of plantHeads() without computing weights. All three functions throw
/// std::invalid_argument unless heads.size() == config.heads.
Status canPlant(const AttentionConfig& config, const EmbeddingLayout& layout,
                const std::vector<PlantedHead>& heads);

/// Returns the number of identity dimensions by which induction heads tell words apart: those that fit in
/// their kv head next to its group's other parts; the smallest number if several differ. 0 if there is no
/// induction head or the heads can't be planted.
Index comparedByInduction(const AttentionConfig& config, const EmbeddingLayout& layout,
                          const std::vector<PlantedHead>& heads);
/// With fewer dimensions, different words are often confused.
inline constexpr Index kEnoughCompared = 6;

/// The division of one kv head's dimensions: [first flag | separator flag | sin, cos pairs | identity |
/// identity of the previous token].
struct Division {
  bool first = false, separator = false;
  std::vector<Index> frequencies;  ///< indices into the layout's frequencies
  Index identity = 0;
  Index previous = 0;  ///< even

  Index positionsAt() const { return (first ? 1 : 0) + (separator ? 1 : 0); }
  Index identityAt() const { return positionsAt() + 2 * static_cast<Index>(frequencies.size()); }
  Index previousAt() const { return identityAt() + identity; }
  Index used() const { return previousAt() + previous; }
  /// Identity is drawn in pairs of equal length; half a pair would favour some tokens.
  Index wholeIdentity() const { return identity - identity % 2; }
};

/// Assigns dimensions to each part that `group` (the heads sharing `kvHead`) reads; unused ones go to
/// identity. Returns an Error naming the parts if headDim is too small for the minimum of each.
Result<Division> divide(const AttentionConfig& config, const EmbeddingLayout& layout,
                        std::span<const PlantedHead> group, Index kvHead);

/// Scores that depend only on the distance d = i − j, as sums of cosines: s(d) = Σ_f a_f·cos(ω_f·d). If a
/// token's position is stored as (sin ω_f·p, cos ω_f·p), the product of a query and a key can have this form.
/// Both functions return the amplitudes a_f, [frequencies], in units of scores.

/// Returns the amplitudes whose softmax over the distances −(N−1) … N−1 is closest to `target` [N] in
/// Kullback–Leibler divergence; target[d] is the wanted weight at distance ±d, up to a factor.
/// This is the maximum-entropy distribution with the target's cosine moments (Jaynes 1957): a convex
/// problem, solved by Newton's method.
std::vector<double> fitDistanceProfile(std::span<const double> frequencies, std::span<const double> target);

/// Returns the amplitudes of a peak at d = 0 that is as flat as possible elsewhere: s(0) is 1 above the mean
/// over the distances 1 … reach−1, and the variance over these is minimal.
std::vector<double> flattestPeak(std::span<const double> frequencies, Index reach);

}  // namespace headscope::attention
