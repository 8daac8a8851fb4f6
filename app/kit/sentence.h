#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "app/compute/layer/snapshot.h"
#include "app/kit/sentence_line.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// What a sentence shows: the words, and what the selected query reads of them in the selected head.
struct SentenceSubject {
  const Snapshot& snapshot;
  const SequenceSnapshot& sequence;
  const Look& look;
  Cell at;           ///< the selected cell
  Index steps = -1;  ///< while decoding: the words that there are; −1 = all

  bool cross() const { return isCross(snapshot.setup); }
  float weight(Index head, Index query, Index key) const {
    return sequence.probabilities().at(head, query, key);
  }
  bool visible(Index head, Index query, Index key) const {
    return !(sequence.attention.scores.at(head, query, key) == -INFINITY);
  }
};

/// A line of words as it is drawn.
struct SentenceWords {
  std::vector<LinePiece> pieces;
  ImFont* font = nullptr;
  float left = 0, y = 0;  ///< the line's left end and vertical middle, in pixels

  bool folds() const { return std::ranges::any_of(pieces, &LinePiece::folded); }
  /// The box of a word, with some space around it.
  ImRect box(const View& view, const LinePiece& piece) const {
    const float pad = view.px(4), half = view.px(17);
    return {left + piece.x - pad, y - half, left + piece.x + piece.width + pad, y + half};
  }
};

/// The places of everything in a sentence.
struct SentenceLayout {
  SentenceWords keys, queries;  ///< equal in self-attention
  std::vector<Index> most;      ///< of each head: the key that it reads most; −1 = evenly, or none
};

/// What a sentence keeps between frames.
struct SentenceState {
  SentenceLayout layout;  ///< kept while nothing changes, since that of a long text takes milliseconds
  std::tuple<const SequenceSnapshot*, Cell, float, const ImFont*, Index> laidOut;  ///< what it is for
  double laidOutAt = -1;            ///< and when: widths change while fonts are read
  std::vector<Index> compared;      ///< heads whose arcs are shown beside the selected one's
  Index opened = -1;                ///< a word whose neighbourhood was unfolded; −1 = none
  std::map<Index, float> dots;      ///< the places of the heads' dots, while they travel
  double movedAt = 0;               ///< when they last moved
  const Snapshot* shown = nullptr;  ///< they travel only while this stays
};

/// The pointer over a sentence.
struct SentenceHit {
  std::optional<Index> query, key, head;  ///< under the pointer: a word as a query or as a key; a head's dot
  bool clicked = false, offers = false;   ///< offers: right-clicked
};

/// The height of a sentence in `width` pixels, in pixels, if at most `most` are there; 0 if that is too
/// little for it.
float sentenceHeight(const View& view, const SentenceSubject& subject, float width, float most);

/// Draws the words on one line, with a band that leaves the selected query and splits over the keys it reads,
/// each part as thick as its weight; the weights below; and a dot for each head under the word that it reads
/// most, or at the end if it reads all evenly. Long texts fold: words that carry weight stay. In
/// cross-attention, the queries stand above the keys. Hovered words are dashed. Shift+click on a dot shows
/// the arcs of its head, too, or hides them. Tests find the words as sentence.query.N (sentence.key.N in
/// cross-attention) and the dots as sentence.head.N.
SentenceHit sentence(View& view, SentenceState& state, const SentenceSubject& subject, const ImRect& area);

}  // namespace headscope::app
