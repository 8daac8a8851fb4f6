#pragma once

#include <span>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Which token of `other` each token of `text` goes with, −1 for none, ascending. Texts of one length, at
/// least half of whose tokens are equal, go together place by place. Else equal tokens do, as many as go in
/// order (their longest common subsequence), and what is between two such pairs where both have as much.
std::vector<Index> alignTokens(std::span<const Index> text, std::span<const Index> other);

/// What a person says beside that: token `a` of the text goes with `b` of the other; −1: the other one with
/// none.
struct TokenTie {
  Index a = -1, b = -1;
  bool operator==(const TokenTie&) const = default;
};
/// Which token of each text goes with which of the other's.
struct TokenAlignment {
  std::vector<Index> otherOfText, textOfOther;
};
/// As alignTokens() has it, and then the ties one after the other: both tokens leave those they went with.
/// Ties of tokens that there aren't are passed over.
TokenAlignment alignTokens(std::span<const Index> text, std::span<const Index> other,
                           std::span<const TokenTie> ties);

}  // namespace headscope::attention
