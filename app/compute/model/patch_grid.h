#pragma once

#include <atomic>
#include <functional>

#include "app/compute/model/pair_study.h"
#include "app/scene/compare_setup.h"

namespace headscope::app {

/// What is put into what.
struct PatchSides {
  std::shared_ptr<const PairStudy> pair;  ///< with both texts
  bool intoA = false;                     ///< pieces of B go into A, else pieces of A into B
  bool operator==(const PatchSides&) const = default;

  const RecordedText& into() const { return intoA ? pair->a : *pair->b; }
  const RecordedText& from() const { return intoA ? *pair->b : pair->a; }
  attention::Patch patch(const KeptPatch& kept) const;
  /// How much of the way from the text's own logit difference to the other's a difference has gone: 0 is its
  /// own, 1 the other's. NaN where the two are the same.
  double recovered(double difference) const;
};

/// A head of a layer.
struct PathStart {
  Index layer = 0, head = 0;
  bool operator==(const PathStart&) const = default;
};

/// Each of a piece's places is patched by itself: heads of all layers, or tokens of all layers.
struct PatchGridQuestion {
  PatchSides sides;
  attention::Piece piece = attention::Piece::head;
  bool byToken = false;  ///< columns are tokens, all heads of a layer together; of streams and MLPs always
  /// Of queries, keys and values only what this head of the other text changes of them directly, all other
  /// heads and MLPs held as they are ("path patching"; Wang et al. 2022, Goldowsky-Dill et al. 2023).
  std::optional<PathStart> path = {};
  bool operator==(const PatchGridQuestion&) const = default;

  Index rows() const;     ///< layers; of the stream one more, after the last
  Index columns() const;  ///< heads, KV heads or tokens
  bool columnsAreTokens() const;
};
struct PatchGrid {
  /// [rows, columns]: the logit difference with the patch, and how much of the way that is. NaN: not yet
  /// computed, or the token has none that goes with it.
  attention::Matrix difference, recovered;
  Index done = 0, of = 0;  ///< patched runs
};
/// Fills the grid in batches, those of the row `nearest` says first; `onPart` is told of the grid after each.
/// Errors: those of the pass; "stopped".
attention::Result<PatchGrid> computePatchGrid(const PatchGridQuestion& question,
                                              const std::function<Index()>& nearest,
                                              const std::function<void(const PatchGrid&)>& onPart,
                                              std::stop_token stop);

/// What several patches do together, and each by itself.
struct PatchSumQuestion {
  PatchSides sides;
  std::vector<KeptPatch> patches;
  bool operator==(const PatchSumQuestion&) const = default;
};
struct PatchSum {
  double together = 0;                        ///< the logit difference with all of them
  std::vector<double> single;                 ///< with each
  std::vector<std::pair<Index, float>> best;  ///< the likeliest next tokens with all of them
};
attention::Result<PatchSum> sumPatches(const PatchSumQuestion& question, std::stop_token stop);

}  // namespace headscope::app
