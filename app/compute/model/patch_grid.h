#pragma once

#include <atomic>
#include <functional>

#include "app/compute/model/pair_study.h"
#include "app/scene/compare_setup.h"

namespace headscope::app {

/// The source and target of patches.
struct PatchSides {
  std::shared_ptr<const PairStudy> pair;  ///< has both texts
  bool intoA = false;                     ///< true = pieces of B go into A, false = pieces of A into B
  bool operator==(const PatchSides&) const = default;

  const RecordedText& into() const { return intoA ? pair->a : *pair->b; }
  const RecordedText& from() const { return intoA ? *pair->b : pair->a; }
  attention::Patch patch(const KeptPatch& kept) const;
  /// Returns how far a logit difference has moved from the patched text's own (0) to the other's (1). NaN if
  /// the two are equal.
  double recovered(double difference) const;
};

/// The head where a path starts.
struct PathStart {
  Index layer = 0, head = 0;
  bool operator==(const PathStart&) const = default;
};

/// A grid of patches. Each place of a piece is patched separately: every head or every token of every layer.
struct PatchGridQuestion {
  PatchSides sides;
  attention::Piece piece = attention::Piece::head;
  bool byToken = false;  ///< columns are tokens, all heads of a layer together; always for streams and MLPs
  /// If set, patches only the direct effect of this head of the other text on queries, keys or values, with
  /// all other heads and MLPs held fixed ("path patching"; Wang et al. 2022, Goldowsky-Dill et al. 2023).
  std::optional<PathStart> path = {};
  bool operator==(const PatchGridQuestion&) const = default;

  Index rows() const;     ///< layers; for the stream one more, after the last layer
  Index columns() const;  ///< heads, kv heads or tokens
  bool columnsAreTokens() const;
};
struct PatchGrid {
  /// [rows, columns]: the logit difference with the patch, and recovered() of it. NaN = not yet computed, or
  /// the token has no counterpart.
  attention::Matrix difference, recovered;
  Index done = 0, of = 0;  ///< patched runs
};
/// Fills the grid in batches, starting with the row closest to `nearest()`; calls `onPart` with the grid at
/// the start and after each batch. Returns an Error if a pass fails, or "stopped" if `stop` is requested.
attention::Result<PatchGrid> computePatchGrid(const PatchGridQuestion& question,
                                              const std::function<Index()>& nearest,
                                              const std::function<void(const PatchGrid&)>& onPart,
                                              std::stop_token stop);

/// A question about the effect of several patches, together and separately.
struct PatchSumQuestion {
  PatchSides sides;
  std::vector<KeptPatch> patches;
  bool operator==(const PatchSumQuestion&) const = default;
};
struct PatchSum {
  double together = 0;                        ///< the logit difference with all patches
  std::vector<double> single;                 ///< with each patch alone
  std::vector<std::pair<Index, float>> best;  ///< the most likely next tokens with all patches
};
attention::Result<PatchSum> sumPatches(const PatchSumQuestion& question, std::stop_token stop);

}  // namespace headscope::app
