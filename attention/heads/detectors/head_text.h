#pragma once

#include <span>
#include <vector>

#include "attention/core/mask.h"
#include "attention/core/tensor.h"
#include "attention/masks/structure.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {

/// The text under a layer's heads, indexed once for all of them.
class HeadText {
 public:
  /// `queries` [n] and `keys` [m]; `firstPosition` is the place of query row 0 among the keys. With
  /// `crossAttention` keys belong to another text. Tokens are the same where tokenIdentity() says so.
  /// Throws std::invalid_argument for a negative position.
  HeadText(std::span<const Token> queries, std::span<const Token> keys, bool ignoreCase,
           Index firstPosition = 0, bool crossAttention = false);

  Index queries() const { return std::ssize(groupOf_); }
  Index keys() const { return keys_; }
  bool crossAttention() const { return crossAttention_; }
  /// Where query `row` stands among the keys.
  Index positionOf(Index row) const { return firstPosition_ + row; }
  /// The keys that hold the same token as query `row`, ascending; with itself.
  std::span<const Index> keysLike(Index row) const {
    return groups_[groupOf_[static_cast<std::size_t>(row)]];
  }
  /// Takes the text's parts from `structure` in place of its own sentences.
  void divide(const TextStructure& structure);
  /// The keys of the part of the text that query `row` stands in; of another text, those of the part that
  /// belongs to the query's.
  KeyRun segmentOf(Index row) const;
  /// The keys that are separators, ascending.
  std::span<const Index> separators() const { return separators_; }

 private:
  Index keys_, firstPosition_;
  bool crossAttention_;
  std::vector<std::vector<Index>> groups_;  ///< keys that are equal; the first group is empty
  std::vector<std::size_t> groupOf_;        ///< [n]
  std::vector<Index> separators_;
  std::vector<Index> starts_;  ///< of the text's parts, in cross-attention of the queries'; 0 first
  KeyRuns segments_;           ///< the keys of each
};

/// One head's weights on a text: what every detector looks at.
class ObservedHead {
 public:
  /// weights [n, m]; scores [n, m] tells the visible keys (−inf = not). All three are looked at later.
  /// Throws std::invalid_argument where sizes don't fit.
  ObservedHead(const MatrixView& weights, const MatrixView& scores, const HeadText& text);

  const HeadText& text() const { return text_; }
  const MatrixView& weights() const { return weights_; }
  Index rows() const { return weights_.rows(); }
  Index cols() const { return weights_.cols(); }
  bool sees(Index row, Index key) const;
  /// How many keys a row sees, and one behind the last of them; 0 where it sees none.
  Index visible(Index row) const { return visible_[static_cast<std::size_t>(row)]; }
  Index visibleEnd(Index row) const { return visibleEnds_[static_cast<std::size_t>(row)]; }

 private:
  MatrixView weights_, scores_;
  const HeadText& text_;
  std::vector<Index> visible_, visibleEnds_;  ///< [n]
};

}  // namespace headscope::attention
