#pragma once

#include <cstdint>
#include <vector>

#include "attention/core/tensor.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {

/// How an embedding of width modelDim is divided when heads are planted: orthogonal parts that a head
/// can read one by one (see heads/planted.h). Layout along the row:
/// [flags | positions | identity | previous | written].
struct EmbeddingLayout {
  Index modelDim = 0;
  Index flags = 0;      ///< one, first, separator: kFlagCount of them, or 0 in a plain embedding
  Index positions = 0;  ///< an even number of sinusoid dimensions
  Index identity = 0;   ///< the rest
  /// In a stack of layers, both 0 in the embedding: where a layer writes what the previous token is, and
  /// where all other heads write, so that later layers read the parts before them as they were.
  Index previous = 0, written = 0;

  Index positionsAt() const { return flags; }
  Index identityAt() const { return flags + positions; }
  Index previousAt() const { return identityAt() + identity; }
  Index writtenAt() const { return previousAt() + previous; }
  bool operator==(const EmbeddingLayout&) const = default;
};

enum Flag : Index { kFlagOne = 0, kFlagFirst = 1, kFlagSeparator = 2, kFlagCount = 3 };

/// The division for planted heads; error below the smallest width at which every part has room (16).
/// `carried`: as many dimensions of identity as a head could carry on to later layers; 0 where there are
/// none.
Result<EmbeddingLayout> plantedLayout(Index modelDim, Index carried = 0);

struct EmbeddingOptions {
  Index modelDim = 0;
  std::uint64_t seed = 0;
  bool ignoreCase = true;
  bool sinusoidal = true;  ///< add position (plain), or fill the positions part (planted)
  Index first = 0;         ///< position of the first token: a long text is embedded part by part
};

/// x [n, modelDim]: a standard Gaussian row per token, drawn from a hash of its identity and the
/// seed, so that a word has the same vector wherever it stands; plus sinusoidal positions when asked.
Matrix embedPlain(const std::vector<Token>& tokens, const EmbeddingOptions& options);

/// x [n, modelDim] in the planted layout: flags, sinusoids at planted frequencies (zero unless
/// `sinusoidal`), identity, and zeros for what layers write. Identity rows are Gaussian with every pair of
/// dimensions scaled to length √2 (an odd last dimension to ±1): over any number of whole pairs, a token's
/// product with itself is the same for all tokens and larger than with any other. options.modelDim ==
/// layout.modelDim.
Matrix embedPlanted(const std::vector<Token>& tokens, const EmbeddingLayout& layout,
                    const EmbeddingOptions& options);

/// Angular frequencies of the planted sinusoids, in radians per token: [layout.positions / 2],
/// geometric from fast (2.2) to slow (0.02). Dimensions positionsAt()+2f and +2f+1 hold sin and cos of p·ω_f.
std::vector<double> plantedFrequencies(const EmbeddingLayout& layout);

}  // namespace headscope::attention
