#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/heads/detectors/head_text.h"
#include "attention/heads/planted.h"

namespace headscope::attention {

/// One detector's answer: the raw score and what uniform attention over the visible keys would score.
struct DetectorScore {
  float raw = 0;
  float baseline = 0;
  Index rows = 0;  ///< eligible rows; 0 = the question does not arise on this text
  Index at = 0;    ///< what a detector that searches has found: of `offset`, keys so many back
  float above() const { return raw - baseline; }
};

/// What a head does, by every detector.
struct HeadProfile {
  std::vector<DetectorScore> scores;  ///< in the order of allDetectors()
  /// By a detector's name; throws std::invalid_argument where there is no such detector.
  const DetectorScore& operator[](std::string_view name) const;
};

/// A head's maps of values, both [modelDim, headDim]: it writes x·v·oᵀ for what it reads.
struct HeadMaps {
  Matrix v, o;
};

/// One thing that a head may be seen to do. Scores lie between 0 and 1, where no `unit` says otherwise.
///
/// Most are the weight that goes to certain keys: `targets` names them, and the score is the mean of
/// Σ_targets A[i][j] over the eligible rows, those that see a target (row 0 has no previous token, a window
/// of one key never shows it). Its baseline is the targets' mean share of the visible keys. Others `measure`
/// score and baseline themselves, or judge the head's maps alone. Of the three functions one or two are
/// there: a detector may both name its targets and measure, where that is quicker.
struct Detector {
  std::string_view name;       ///< in code and files: "same_token"
  std::string_view title;      ///< on screen: "same token"
  std::string_view shortName;  ///< where there is little room: "same"
  std::string_view help;       ///< one sentence that states the formula
  /// A head that is made to do this; none where heads can't be planted so.
  std::optional<PlantedHead> planted;

  /// Appends the keys that a row's weight should go to, ascending. They need not be visible, nor exist.
  void (*targets)(const HeadText& text, Index row, std::vector<Index>& keys) = nullptr;
  DetectorScore (*measure)(const ObservedHead& head) = nullptr;
  DetectorScore (*ofMaps)(const HeadMaps& maps) = nullptr;

  /// Whether a head of this profile may be labelled by this detector; null = always.
  bool (*mayLabel)(const HeadProfile& profile) = nullptr;
  /// From this raw score on, a head that has no other label gets this one.
  std::optional<float> labelsTheRestFrom = std::nullopt;
  /// The title of a detector that searches, with what it has found; null = `title`.
  std::string (*titleOf)(Index at) = nullptr;
  /// At most six letters, where even `shortName` has no room: "i−2"; null = `shortName`, which is as short.
  std::string (*tightName)(Index at) = nullptr;

  /// The keys of a row that made this score, where `targets` can't know them; as `targets`.
  void (*counted)(const ObservedHead& head, const DetectorScore& score, Index row,
                  std::vector<Index>& keys) = nullptr;
  std::string_view column = {};  ///< over its column in a table of scores; empty = `title`
  std::string_view unit = {};    ///< "tokens": of a score that is no share
  /// Says where a key stands from its query: between two texts the question does not arise.
  bool ofOneText = false;
};

/// `maps` may be null: where only they tell, the question does not arise.
DetectorScore scoreOf(const Detector& detector, const ObservedHead& head, const HeadMaps* maps = nullptr);

/// The visible keys of a row whose weight made the score, ascending; none where it is not made of cells.
std::vector<Index> countedKeys(const Detector& detector, const DetectorScore& score, const ObservedHead& head,
                               Index row);

}  // namespace headscope::attention
