#pragma once

#include <cstdint>
#include <vector>

#include "attention/core/tensor.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {

/// How an embedding of width modelDim is divided when heads are planted: orthogonal parts that a head
/// can read one by one (see heads/planted.h). Layout along the row: [flags | positions | identity].
struct EmbeddingLayout {
  Index modelDim = 0;
  Index flags = 0;      ///< one, first, separator: kFlagCount of them, or 0 in a plain embedding
  Index positions = 0;  ///< an even number of sinusoid dimensions
  Index identity = 0;   ///< the rest

  Index positionsAt() const { return flags; }
  Index identityAt() const { return flags + positions; }
  bool operator==(const EmbeddingLayout&) const = default;
};

enum Flag : Index { kFlagOne = 0, kFlagFirst = 1, kFlagSeparator = 2, kFlagCount = 3 };

/// The division for planted heads; error below the smallest width at which every part has room (16).
Result<EmbeddingLayout> plantedLayout(Index modelDim);

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
/// `sinusoidal`), and identity. Identity rows are Gaussian with every pair of dimensions scaled to length √2
/// (an odd last dimension to ±1): over any number of whole pairs, a token's product with itself is the same
/// for all tokens and larger than with any other. options.modelDim == layout.modelDim.
Matrix embedPlanted(const std::vector<Token>& tokens, const EmbeddingLayout& layout,
                    const EmbeddingOptions& options);

/// Angular frequencies of the planted sinusoids, in radians per token: [layout.positions / 2],
/// geometric from fast (2.2) to slow (0.02). Dimensions positionsAt()+2f and +2f+1 hold sin and cos of p·ω_f.
std::vector<double> plantedFrequencies(const EmbeddingLayout& layout);

}  // namespace headscope::attention
