#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/tensor.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {

enum class Detector { previous, next, self, first, sameToken, separator, local, uniform, offset };
inline constexpr int kDetectorCount = 9;
std::string_view name(Detector detector);

/// One detector's answer: the raw score and what uniform attention over the visible keys would score.
struct DetectorScore {
  float raw = 0;
  float baseline = 0;
  Index rows = 0;  ///< eligible rows; 0 = the question does not arise on this text
  float above() const { return raw - baseline; }
};

/// What a head does, over the rows that could show it (row 0 has no previous token).
/// `uniform` holds mean entropy / ln(visible) over rows with two or more visible keys; 1 = uniform, which
/// is also its baseline. `offset` holds the largest mean of A[i][i−k] over all k that at least a quarter of
/// the rows can show.
struct HeadProfile {
  std::array<DetectorScore, kDetectorCount> scores;
  Index bestOffset = 0;   ///< the k of `offset`: keys k back, or −k ahead
  float meanEntropy = 0;  ///< nats
  const DetectorScore& operator[](Detector d) const { return scores[static_cast<int>(d)]; }
};

/// Scores every detector on one head. weights [n, m]; scores [n, m] tells the visible keys (−inf = not).
/// A row is eligible for a detector where it sees a key of that pattern: row 0 has no previous token, a
/// window of one key never shows it, and a row that sees nothing is eligible for nothing. The first token is
/// asked of later rows only, the same token of earlier keys only.
/// With `crossAttention` keys belong to another text: offsets still compare positions, but every row may look
/// at the first token, and the same token counts wherever it stands.
/// `queryIds` and `keyIds` identify tokens ([n] and [m], equal ids for equal identities); `separators` [m]
/// flags separator keys; `firstPosition` is the absolute position of query row 0. `localBand` is w in
/// |i−j| ≤ w. Throws std::invalid_argument where sizes don't fit.
HeadProfile profileHead(const MatrixView& weights, const MatrixView& scores, std::span<const Index> queryIds,
                        std::span<const Index> keyIds, std::span<const std::uint8_t> separators,
                        Index firstPosition = 0, Index localBand = 2, bool crossAttention = false);

/// The strongest pattern whose score above baseline reaches `threshold`; otherwise uniform where the
/// entropy ratio is at least 0.95; otherwise nothing ("mixed").
struct HeadLabel {
  bool mixed = true;
  Detector detector = Detector::uniform;
  float score = 0;   ///< above baseline; for uniform the entropy ratio itself
  Index offset = 0;  ///< for Detector::offset: keys so many back
};

/// Patterns overlap, so the strongest is chosen with three considerations: a pattern that few rows could
/// show counts for less (one row, two thirds); the local band is named only where no single offset holds most
/// of it; and offsets with names of their own (self, previous, next) go by those.
HeadLabel labelHead(const HeadProfile& profile, float threshold = 0.3f);

/// "previous token", "2 back", "mixed", …
std::string describe(const HeadLabel& label);

}  // namespace headscope::attention
