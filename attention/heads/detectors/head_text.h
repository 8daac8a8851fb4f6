#pragma once

#include <span>
#include <vector>

#include "attention/core/mask.h"
#include "attention/core/tensor.h"
#include "attention/masks/structure.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {

/// The text that a layer's heads attend to, indexed once for all heads.
class HeadText {
 public:
  /// Takes queries [n] and keys [m]; `firstPosition` is the position of query row 0 among the keys. With
  /// `crossAttention`, the keys belong to another text. Tokens are the same if their tokenIdentity() is.
  /// Throws std::invalid_argument if `firstPosition` is negative.
  HeadText(std::span<const Token> queries, std::span<const Token> keys, bool ignoreCase,
           Index firstPosition = 0, bool crossAttention = false);

  /// Compares tokens by the ids of their tokenizer instead of by their words: "The" and "␣The" differ. Keeps
  /// the words if an id is negative, as in a text without a vocabulary. Throws std::invalid_argument if the
  /// numbers of ids differ from those of the tokens.
  void compareIds(std::span<const Index> queries, std::span<const Index> keys);

  Index queries() const { return std::ssize(groupOf_); }
  Index keys() const { return keys_; }
  bool crossAttention() const { return crossAttention_; }
  /// Returns the position of query `row` among the keys.
  Index positionOf(Index row) const { return firstPosition_ + row; }
  /// Returns the keys with the same token as query `row`, ascending, including itself.
  std::span<const Index> keysLike(Index row) const {
    return groups_[groupOf_[static_cast<std::size_t>(row)]];
  }
  /// Divides the text by `structure` instead of by sentences.
  void divide(const TextStructure& structure);
  /// Returns the keys of the part of the text that contains query `row`; in cross-attention, of the part that
  /// corresponds to the query's.
  KeyRun segmentOf(Index row) const;
  /// Returns the keys that are separators, ascending.
  std::span<const Index> separators() const { return separators_; }

 private:
  /// Groups keys whose identities are equal, and assigns queries to the groups.
  template <typename Identity>
  void group(const std::vector<Identity>& queries, const std::vector<Identity>& keys);

  Index keys_, firstPosition_;
  bool crossAttention_;
  std::vector<std::vector<Index>> groups_;  ///< keys with equal tokens; the first group is empty
  std::vector<std::size_t> groupOf_;        ///< [n]
  std::vector<Index> separators_;
  std::vector<Index> starts_;  ///< of the text's parts (in cross-attention, the queries'), starting with 0
  KeyRuns segments_;           ///< the keys of each part
};

/// One head's weights on a text: the input of every detector.
class ObservedHead {
 public:
  /// Takes weights [n, m] and scores [n, m], which tell the visible keys (−inf = hidden). The data of all
  /// three must outlive the object. Throws std::invalid_argument if sizes don't fit.
  ObservedHead(const MatrixView& weights, const MatrixView& scores, const HeadText& text);

  const HeadText& text() const { return text_; }
  const MatrixView& weights() const { return weights_; }
  Index rows() const { return weights_.rows(); }
  Index cols() const { return weights_.cols(); }
  bool sees(Index row, Index key) const;
  /// The count of keys that `row` sees, and one past the last of them; 0 if it sees none.
  Index visible(Index row) const { return visible_[static_cast<std::size_t>(row)]; }
  Index visibleEnd(Index row) const { return visibleEnds_[static_cast<std::size_t>(row)]; }

 private:
  MatrixView weights_, scores_;
  const HeadText& text_;
  std::vector<Index> visible_, visibleEnds_;  ///< [n]
};

}  // namespace headscope::attention
