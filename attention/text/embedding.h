#pragma once

#include <cstdint>

#include "attention/core/tensor.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {

/// How an embedding row of width modelDim is divided for planted heads: into orthogonal parts that a head can
/// read separately (see heads/planted.h). Order along the row:
/// [flags | positions | identity | previous | written].
struct EmbeddingLayout {
  Index modelDim = 0;
  Index flags = 0;      ///< one, first, separator: kFlagCount of them, or 0 in a plain embedding
  Index positions = 0;  ///< sinusoid dimensions, an even number
  Index identity = 0;   ///< the remaining dimensions
  /// For stacks of layers; both parts are 0 in the embedding. A layer writes the previous token's identity to
  /// `previous`, and all other heads write to `written`, so later layers read the earlier parts unchanged.
  Index previous = 0, written = 0;

  Index positionsAt() const { return flags; }
  Index identityAt() const { return flags + positions; }
  Index previousAt() const { return identityAt() + identity; }
  Index writtenAt() const { return previousAt() + previous; }
  bool operator==(const EmbeddingLayout&) const = default;
};

enum Flag : Index { kFlagOne = 0, kFlagFirst = 1, kFlagSeparator = 2, kFlagCount = 3 };

/// Returns the layout for planted heads, or an Error if modelDim is below 16, the smallest width that holds
/// every part. `carried` is the number of identity dimensions that a head can carry to later layers; 0 = no
/// later layers.
Result<EmbeddingLayout> plantedLayout(Index modelDim, Index carried = 0);

struct EmbeddingOptions {
  Index modelDim = 0;
  std::uint64_t seed = 0;
  bool ignoreCase = true;
  bool sinusoidal = true;  ///< whether to add positions (plain) or fill the positions part (planted)
  Index first = 0;         ///< position of the first token, for embedding a long text in parts
};

/// Returns x [n, modelDim]: one standard Gaussian row per token, drawn from a hash of its identity and the
/// seed, so a word has the same vector everywhere; plus sinusoidal positions if requested.
Matrix embedPlain(const std::vector<Token>& tokens, const EmbeddingOptions& options);

/// Returns x [n, modelDim] in the planted layout: flags, sinusoids at the planted frequencies (zero unless
/// `sinusoidal`), identity, and zeros for the parts that layers write. Identity rows are Gaussian, with every
/// pair of dimensions scaled to length √2 (an odd last dimension to ±1). Over any number of whole pairs, the
/// dot product of a token with itself is therefore the same for all tokens and larger than with any other
/// token. options.modelDim must equal layout.modelDim.
Matrix embedPlanted(const std::vector<Token>& tokens, const EmbeddingLayout& layout,
                    const EmbeddingOptions& options);

/// Returns the angular frequencies of the planted sinusoids, in radians per token: [layout.positions / 2],
/// geometric from fast (2.2) to slow (0.02). Dimensions positionsAt()+2f and +2f+1 hold sin and cos of p·ω_f.
std::vector<double> plantedFrequencies(const EmbeddingLayout& layout);

/// Returns the part of embedPlanted() that depends on positions only, [count, modelDim]: the flag of the
/// text's first token and, if `sinusoidal`, the sinusoids; zeros elsewhere. Rows are positions first …
/// first+count−1.
Matrix plantedPositions(const EmbeddingLayout& layout, Index first, Index count, bool sinusoidal);

}  // namespace headscope::attention
