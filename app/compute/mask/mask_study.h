#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/layer/input_cache.h"
#include "app/scene/scene.h"
#include "attention/masks/statistics.h"

namespace headscope::app {

/// What the mask studio asks about a scene's masks. They are answered apart from the attention, which takes
/// longer: a dragged parameter shows its mask in the next frame.
struct MaskQuestion {
  Setup setup;
  Index sequence = 0, head = 0;
  Index blockSize = 32;
  bool operator==(const MaskQuestion&) const = default;
};

/// One mask, laid over one line of the text.
struct StudiedMask {
  std::optional<std::string> error;  ///< then nothing below is there
  std::shared_ptr<const attention::MaskFormula> formula;
  Index variant = 0;   ///< of the head that was asked about
  Index distinct = 1;  ///< masks among those of the heads that differ in a cell
  /// Its cells, those of level i pooled in squares of 2^i × 2^i: the share of them that is visible, masked
  /// where that is 0, dead rows where a row sees nothing.
  std::vector<attention::Matrix> levels;
  attention::Stack thumbnails;  ///< [variants, ≤ 48, ≤ 48] the same, for all heads
  attention::MaskStatistics statistics;
  attention::BlockMap blocks;
  std::string formulaText;         ///< in symbols, for the head
  std::string formulaLegend;       ///< what the symbols stand for
  std::vector<std::string> notes;  ///< how its files' numbers were read, as maskFileNotes
  bool seesFuture = false;
  /// Each layer of the list by itself, for saying why a cell is masked; null for one that is left out.
  std::vector<std::shared_ptr<const attention::MaskFormula>> layers;
};

struct MaskStudy {
  MaskQuestion question;
  std::vector<LineTokens> lines;
  Index sequence = 0;  ///< of those, the one that was studied
  attention::MaskGeometry geometry;
  StudiedMask mask;
  std::optional<StudiedMask> other;
  MemoryShare memory;  ///< what it takes of the budget, where that is counted
  const LineTokens* line() const {
    return lines.empty() ? nullptr : &lines[static_cast<std::size_t>(sequence)];
  }
};

/// Pure. Empty lines when there is no text or it can't be read (the Snapshot says why). When `stop` is
/// requested, what it returns is incomplete.
MaskStudy studyMask(const MaskQuestion& question, InputCache& cache, std::stop_token stop = {});
/// The same by itself, with nothing kept.
MaskStudy studyMask(const MaskQuestion& question, std::stop_token stop = {});

/// Which tokens can reach which: asked apart, since it takes longest.
struct ReachQuestion {
  std::shared_ptr<const attention::MaskFormula> mask;  ///< over as many queries as keys
  Index variant = -1;                                  ///< −1 = through any head
  Index layers = 2;
  bool residual = true;
  bool operator==(const ReachQuestion&) const = default;
};
struct ReachStudy {
  ReachQuestion question;
  attention::ReachMap reach;
  attention::Matrix picture;  ///< 1 after one layer down to 1/layers after all, masked if never; ≤ 512
  int factor = 1;             ///< tokens along each side of the picture that were pooled into one
  std::vector<Index> leak;    ///< the shortest way by which a token learns of a later one
  MemoryShare memory;         ///< as a MaskStudy's
};
ReachStudy studyReach(const ReachQuestion& question, std::stop_token stop = {});

/// What the tables and pictures of a study take.
std::uint64_t bytesOf(const MaskStudy& study);
std::uint64_t bytesOf(const ReachStudy& study);

/// Two masks' pictures of one size: the share that b shows beyond what a shows; masked where neither shows
/// anything, dead where both rows are.
attention::Matrix maskDifference(const attention::Matrix& a, const attention::Matrix& b);

/// Which variants a question goes through.
std::vector<Index> variantsOf(const ReachQuestion& question);

/// One variant's cells as a picture, `factor` × `factor` of them in one.
attention::Matrix drawMask(const attention::MaskFormula& mask, Index variant, Index factor);

}  // namespace headscope::app
