#pragma once

#include <span>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app {

using attention::Index;

/// A word of a line, or several words folded into one place.
struct LinePiece {
  Index from = 0, to = 0;  ///< the words, without `to`
  float x = 0, width = 0;  ///< pixels from the line's left end
  bool folded = false;
  float middle() const { return x + width / 2; }
};

/// The sizes of a line, in pixels.
struct LineSizes {
  float room = 0;    ///< of the whole line
  float gap = 0;     ///< between pieces
  float folded = 0;  ///< width of a folded place
};

/// Lays words of these widths out on one line. If they don't fit, the words in `byImportance` stay, the first
/// ones first, as many as fit; the runs between them are folded. A run that isn't wider than its folded place
/// stays. Every word is in exactly one piece, in order.
std::vector<LinePiece> layLine(std::span<const float> widths, std::span<const Index> byImportance,
                               const LineSizes& sizes);

/// The words of a text by their importance to `query`: itself, the keys it reads by their weights down to
/// `least`, its neighbours, the first word, and the neighbours of those keys. `weights` [n] of the words; may
/// be empty. `opened`: a word to show first with its neighbourhood; −1 = none.
std::vector<Index> wordsByImportance(Index count, Index query, std::span<const float> weights, float least,
                                     Index opened);

/// The piece that has the word; null if there is none.
const LinePiece* pieceOf(const std::vector<LinePiece>& pieces, Index word);

}  // namespace headscope::app
