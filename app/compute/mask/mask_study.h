#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/layer/layer_inputs.h"
#include "app/scene/scene.h"
#include "attention/core/mask.h"
#include "attention/core/result.h"
#include "attention/masks/statistics.h"
#include "render/image.h"

namespace headscope::app {

/// The mask studio's question about a scene's masks. It is answered separately from attention, which takes
/// longer, so that a dragged parameter shows its mask in the next frame.
struct MaskQuestion {
  Setup setup;
  Index sequence = 0, head = 0;
  Index blockSize = 32;
  bool operator==(const MaskQuestion&) const = default;
};

/// One mask, applied to one line of the text.
struct StudiedMask {
  std::optional<std::string> error;  ///< if set, nothing below except `notes` is filled in
  std::shared_ptr<const attention::MaskFormula> formula;
  Index variant = 0;   ///< of the head in question
  Index distinct = 1;  ///< number of heads' masks that differ in at least one cell
  /// The mask's cells; level i pools squares of 2^i × 2^i. Each value is the visible share, marked as masked
  /// if that is 0 and as dead if the whole row sees nothing.
  std::vector<attention::Matrix> levels;
  attention::Stack thumbnails;  ///< [variants, ≤ 48, ≤ 48] the same for all heads
  attention::MaskStatistics statistics;
  attention::BlockMap blocks;
  std::string formulaText;         ///< in symbols, for the head
  std::string formulaLegend;       ///< the meaning of the symbols
  std::vector<std::string> notes;  ///< how its files' numbers were read, from maskFileNotes()
  bool seesFuture = false;
  /// Each layer of the list by itself, to explain why a cell is masked; null for a layer that doesn't apply.
  std::vector<std::shared_ptr<const attention::MaskFormula>> layers;
};

struct MaskStudy {
  MaskQuestion question;
  std::vector<LineTokens> lines;
  Index sequence = 0;  ///< index of the studied line
  attention::MaskGeometry geometry;
  StudiedMask mask;
  std::optional<StudiedMask> other;
  MemoryShare memory;  ///< the study's share of the budget, if it is counted
  const LineTokens* line() const {
    return lines.empty() ? nullptr : &lines[static_cast<std::size_t>(sequence)];
  }
};

/// Pure. `lines` is empty if the text is empty or it can't be read (the Snapshot says why). The result is
/// incomplete if `stop` is requested.
MaskStudy studyMask(const MaskQuestion& question, InputCache& cache, std::stop_token stop = {});
/// The same with a temporary cache.
MaskStudy studyMask(const MaskQuestion& question, std::stop_token stop = {});

/// A question about which tokens can reach which. Separate from MaskQuestion because it takes longest.
struct ReachQuestion {
  std::shared_ptr<const attention::MaskFormula> mask;  ///< square: as many queries as keys
  Index variant = -1;                                  ///< −1 = through any head
  Index layers = 2;
  bool residual = true;
  bool operator==(const ReachQuestion&) const = default;
};
struct ReachStudy {
  ReachQuestion question;
  attention::ReachMap reach;
  attention::Matrix picture;  ///< 1 after one layer down to 1/layers after all; masked if never; sides ≤ 512
  int factor = 1;             ///< tokens per pixel along each side of the picture
  std::vector<Index> leak;    ///< the shortest path by which a token learns of a later one
  MemoryShare memory;         ///< as in MaskStudy
};
ReachStudy studyReach(const ReachQuestion& question, std::stop_token stop = {});

/// Returns the bytes of a study's tables and pictures.
std::uint64_t bytesOf(const MaskStudy& study);
std::uint64_t bytesOf(const ReachStudy& study);

/// Returns the visible share in b minus that in a, for two masks' pictures of the same size. Cells visible in
/// neither are masked, or dead if dead in both.
attention::Matrix maskDifference(const attention::Matrix& a, const attention::Matrix& b);

/// Returns the mask variants that the question covers.
std::vector<Index> variantsOf(const ReachQuestion& question);

/// Draws one variant, pooled over factor × factor cells.
attention::Matrix drawMask(const attention::MaskFormula& mask, Index variant, Index factor);

/// Draws a mask, light where visible. One pixel covers cellsPerPixel() × cellsPerPixel() cells, the fewest
/// that keep both sides within 4,096 pixels. Its brightness is their visible share; a pixel with any visible
/// cell is never dark.
render::Image maskImage(const attention::MaskFormula& mask, attention::Index variant);
attention::Index cellsPerPixel(const attention::MaskFormula& mask);

/// Writes maskImage() as a PNG file.
attention::Status writeMaskPicture(const std::filesystem::path& path, const attention::MaskFormula& mask,
                                   attention::Index variant);

}  // namespace headscope::app
