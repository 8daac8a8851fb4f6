#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "app/compute/jobs/answer.h"
#include "app/compute/layer/resources.h"
#include "app/compute/model/lens_map.h"
#include "app/compute/model/patch_grid.h"

namespace headscope::app::model_page {

/// The answers about one text or two, for panels to read.
struct PairState {
  std::shared_ptr<const PairStudy> pair;  ///< the newest; null before the first
  std::string problem;                    ///< why the current question has no answer
  double busySeconds = 0;

  /// A grid of patches, which may still be filling in.
  struct Grid {
    std::optional<PatchGridQuestion> question;
    PatchGrid grid;
    std::string problem;
    bool whole() const { return grid.done == grid.of; }
  };
  Grid heads, tokens;
  std::shared_ptr<const Answered<PatchSumQuestion, PatchSum>> sum;
  std::shared_ptr<const Answered<AttributionQuestion, AttributionStudy>> attribution;
  std::shared_ptr<const Answered<LensQuestion, LensMap>> lens;

  /// B under the scene's changes, and its heads aligned with A's, or B − A.
  std::shared_ptr<const ModelStudy> other;
  std::vector<std::shared_ptr<const LayerSummary>> compared;
  std::string comparedProblem;  ///< why A and B can't be compared

  Index tying = -1;      ///< the token of B that the user is aligning with one of A; −1: none
  Index pointedRow = 0;  ///< the grid row under the pointer
};

/// The model page's questions about one text or two.
class PairAnswers {
 public:
  PairAnswers(Workers& workers, Resources& resources);

  /// Asks for what the scene's view needs. `study` is A's; null while it isn't up to date.
  void ask(const Scene& scene, const std::shared_ptr<const ModelStudy>& study);
  /// Takes new answers. Returns whether there were any.
  bool take(const Scene& scene, const std::shared_ptr<const ModelStudy>& study, PairState& state);
  /// Asks for the heads shown in place of A's, if the scene shows B or B − A. B is `recorded`, or text B if
  /// that is null.
  void askCompared(const Scene& scene, const std::shared_ptr<const ModelStudy>& study,
                   const std::shared_ptr<const OpenModel>& recorded);
  void cancel();
  void forget();
  /// Sets the grid row under the pointer, which is computed first.
  void pointAt(Index row) { nearest_ = row; }

 private:
  /// A grid that is being computed. Written on the worker's thread.
  struct Arriving {
    std::mutex mutex;
    std::optional<PatchGridQuestion> question;
    PatchGrid grid;
    bool changed = false;
  };
  using GridAnswer = Answer<PatchGridQuestion, PatchGrid>;
  GridAnswer::Compute filling(Arriving& arriving);
  static bool takeGrid(const GridAnswer& answer, Arriving& arriving, PairState::Grid& grid);
  bool takeCompared(const Scene& scene, const std::shared_ptr<const ModelStudy>& study, PairState& state);

  /// The request for B's heads, or B − A, to show in place of A's.
  struct ComparedQuestion {
    std::shared_ptr<const ModelStudy> a, b;
    bool difference = false;
    std::vector<attention::TokenTie> ties;
    bool operator==(const ComparedQuestion&) const = default;
  };
  using Compared = std::vector<std::shared_ptr<const LayerSummary>>;

  Resources& resources_;
  std::atomic<Index> nearest_ = 0;
  ModelRunner runner_;
  Arriving arrivingHeads_, arrivingTokens_;
  Answer<PairQuestion, std::shared_ptr<const PairStudy>> pair_;
  Answer<ModelQuestion, ModelStudy> other_;
  Answer<ComparedQuestion, Compared> compared_;
  GridAnswer heads_, tokens_;
  Answer<PatchSumQuestion, PatchSum> sum_;
  Answer<AttributionQuestion, AttributionStudy> attribution_;
  Answer<LensQuestion, LensMap> lens_;
};

/// The head whose paths into the chosen piece are followed. Returns nothing if the whole piece is patched.
std::optional<PathStart> followedPath(const Scene& scene);
/// Whether the scene has a second text or, for recorded attention, a second recording.
bool comparesTwo(const Scene& scene);
/// Swaps the scene's text and B, with their answers, alignment and patching direction. Clears generated text.
void swapTexts(Scene& scene);

}  // namespace headscope::app::model_page
