#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/mask.h"
#include "attention/core/tensor.h"
#include "attention/heads/planted.h"
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

/// One detector's result: the raw score and the score of uniform attention over the visible keys.
struct DetectorScore {
  float raw = 0;
  float baseline = 0;
  Index rows = 0;  ///< eligible rows; 0 = the detector doesn't apply to this text
  Index at = 0;    ///< the result of a detector that searches; for `offset`, how many keys back
  float above() const { return raw - baseline; }
};

/// Sums of scores and baselines over the eligible rows.
struct RowMeans {
  double raw = 0, baseline = 0;
  Index rows = 0;
  /// Returns the means; a score that doesn't apply if there are no rows.
  DetectorScore score() const {
    const auto count = static_cast<double>(rows);
    if (rows == 0) return {};
    return {static_cast<float>(raw / count), static_cast<float>(baseline / count), rows};
  }
};

/// The scores of all detectors on one head.
struct HeadProfile {
  std::vector<DetectorScore> scores;  ///< in the order of allDetectors()
  /// Returns the score by detector name. Throws std::invalid_argument if there is no such detector.
  const DetectorScore& operator[](std::string_view name) const;
};

/// A head's value and output maps, both [modelDim, headDim]: for an input x it writes x·v·oᵀ.
struct HeadMaps {
  Matrix v, o;
};

/// Detects one behaviour of a head. Scores lie between 0 and 1 unless `unit` is set (−1 to 1 for copying).
///
/// Most detectors measure the weight on certain keys: `targets` lists them, and the score is the mean of
/// Σ_targets A[i][j] over the eligible rows, those that see a target (row 0 has no previous token; a window
/// of one key never shows it). The baseline is the targets' mean share of the visible keys. Others `measure`
/// score and baseline themselves, or use only the head's maps. One or two of the three functions are set: a
/// detector may have `measure` in addition to `targets` if that is faster.
struct Detector {
  std::string_view name;       ///< in code and files: "same_token"
  std::string_view title;      ///< on screen: "same token"
  std::string_view shortName;  ///< if space is limited: "same"
  std::string_view help;       ///< one sentence with the formula
  /// A planted head with this behaviour; none if it can't be planted.
  std::optional<PlantedHead> planted;

  /// Appends the keys that should get a row's weight, ascending. They need not be visible or even exist.
  void (*targets)(const HeadText& text, Index row, std::vector<Index>& keys) = nullptr;
  DetectorScore (*measure)(const ObservedHead& head) = nullptr;
  DetectorScore (*ofMaps)(const HeadMaps& maps) = nullptr;

  /// Whether this detector may label a head with this profile; null = always.
  bool (*mayLabel)(const HeadProfile& profile) = nullptr;
  /// Over fewer eligible rows it labels no head.
  Index fewestRows = 1;
  /// A head without another label gets this one from this raw score on.
  std::optional<float> fallbackLabelThreshold = std::nullopt;
  /// The title of a detector that searches, including its result; null = `title`.
  std::string (*titleOf)(Index at) = nullptr;
  /// A name of at most six letters: "i−2"; null = `shortName` is short enough.
  std::string (*compactName)(Index at) = nullptr;

  /// Like `targets`, for detectors whose counted keys depend on the weights or the score.
  void (*counted)(const ObservedHead& head, const DetectorScore& score, Index row,
                  std::vector<Index>& keys) = nullptr;
  std::string_view column = {};  ///< column header in a table of scores; empty = `title`
  std::string_view unit = {};    ///< "tokens", if the score isn't a share
  /// Whether it uses the distance of key and query, and so doesn't apply to cross-attention.
  bool ofOneText = false;
};

/// Scores a detector on a head. If `maps` is null, detectors that need maps don't apply.
DetectorScore scoreOf(const Detector& detector, const ObservedHead& head, const HeadMaps* maps = nullptr);

/// Returns the visible keys of a row whose weight the score counts, ascending; none if it counts no cells.
std::vector<Index> countedKeys(const Detector& detector, const DetectorScore& score, const ObservedHead& head,
                               Index row);

}  // namespace headscope::attention
