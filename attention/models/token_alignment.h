#pragma once

#include <span>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Returns the token of `other` that matches each token of `text`, ascending; −1: none. If the texts have the
/// same length and at least half of their tokens are equal, they match position by position. Otherwise equal
/// tokens match, as many as possible in order (the longest common subsequence), and so do the stretches
/// between two such pairs if they are equally long.
std::vector<Index> alignTokens(std::span<const Index> text, std::span<const Index> other);

/// A match set by the user: token `a` of the text and token `b` of the other. −1: the other token has no
/// match.
struct TokenTie {
  Index a = -1, b = -1;
  bool operator==(const TokenTie&) const = default;
};
/// The matches of each text's tokens in the other text; −1: none.
struct TokenAlignment {
  std::vector<Index> otherOfText, textOfOther;
};
/// Like alignTokens() above, then applies the ties in order; a tie first releases both tokens from their
/// matches. Ignores ties of tokens that don't exist.
TokenAlignment alignTokens(std::span<const Index> text, std::span<const Index> other,
                           std::span<const TokenTie> ties);

}  // namespace headscope::attention
