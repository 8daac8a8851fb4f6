#pragma once

#include <string>
#include <vector>

#include "attention/core/projections.h"
#include "attention/text/embedding.h"

namespace headscope::attention {

enum class Behaviour { offset, firstToken, sameToken, localBand, uniform, separator, random, induction };

/// What one query head is made to do.
struct PlantedHead {
  Behaviour behaviour = Behaviour::uniform;
  Index offset = 1;  ///< for Behaviour::offset: looks at i − offset; 1 = previous, 0 = self, −1 = next
  bool operator==(const PlantedHead&) const = default;
};

/// "previous token", "self", "next token", "3 back", "local band", …
std::string describe(const PlantedHead& head);

/// Weights that make each head do what `heads` says, by construction, on embeddings in `layout`.
/// heads.size() == config.heads. Heads of one kv group share K: each kv head's dimensions are divided among
/// the parts its group needs, as [flags | sinusoids | identity | previous].
/// - offset, local band: K reads sinusoids and Q reads them turned back by the offset, with amplitudes fitted
///   so that the softmax comes closest to the wanted profile (heads/distance_profile.h);
/// - first token, separator: Q reads the constant flag, K the flag;
/// - same token: Q and K read identity, and where K holds positions Q takes the token itself away by them, so
///   that the head looks for an earlier occurrence and spreads over the rest where there is none;
/// - induction: Q reads identity, K what a layer below wrote of the previous token's (Elhage et al. 2021,
///   "K-composition"), and the first token, which has none before it, is taken away by its flag; a layer
///   below has to be planted with `writesPrevious`, else the head is uniform over what is left;
/// - random: Q is Gaussian over all that K holds; uniform: Q = 0.
/// `maxPositions` is the longest sequence for which peaks must stay unambiguous; it sets the gains. It is
/// rounded up to a power of two between 64 and 8,192, so that weights stay put while a text grows; the closer
/// it is to the real length the better same-token, first-token and separator heads are matched to it.
/// Gains make up for a factor of 1/√headDim whatever config.scale says, so that another scale is seen to act.
/// V and O are Xavier from `seed`. In a layout for several layers O writes to its last part alone, but with
/// `writesPrevious` the first head that looks at the previous token carries as much of its identity as
/// there is room for. Q and K get zero biases where `bias` asks for biases; K dimensions nobody
/// needs are filled from identity. Without sinusoids in the embedding, offset and local heads are uniform.
/// Error, naming the kv head and what its group needs, where headDim is too small to hold it.
Result<Projections> plantHeads(const AttentionConfig& config, const EmbeddingLayout& layout,
                               const std::vector<PlantedHead>& heads, bool bias, Index maxPositions,
                               std::uint64_t seed, bool writesPrevious = false);
/// The same error without the weights: whether the heads can be planted at all. All three throw
/// std::invalid_argument unless there are config.heads of them.
Status canPlant(const AttentionConfig& config, const EmbeddingLayout& layout,
                const std::vector<PlantedHead>& heads);

/// By how many dimensions of identity induction heads tell words apart: what their kv head has room for
/// beside what else its group reads, the fewest where several differ. 0 without an induction head, and where
/// the heads can't be planted.
Index comparedByInduction(const AttentionConfig& config, const EmbeddingLayout& layout,
                          const std::vector<PlantedHead>& heads);
/// With fewer, different words are often taken for one another.
inline constexpr Index kEnoughCompared = 6;

}  // namespace headscope::attention
