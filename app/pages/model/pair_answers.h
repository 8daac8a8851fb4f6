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

/// What is known of one text or two, as it is drawn: free for panels to read.
struct PairState {
  std::shared_ptr<const PairStudy> pair;  ///< the newest; null before the first
  std::string problem;                    ///< why there is none of what is asked
  double busySeconds = 0;

  /// A grid as far as it has come.
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

  /// B under the scene's changes, and its heads where A's are, or what they are less A's.
  std::shared_ptr<const ModelStudy> other;
  std::vector<std::shared_ptr<const LayerSummary>> compared;
  std::string comparedProblem;  ///< why they can't be compared

  Index tying = -1;      ///< the token of B that is being tied to one of A; −1: none
  Index pointedRow = 0;  ///< of the grid that is pointed at
};

/// The questions that the page of a model asks about two texts.
class PairAnswers {
 public:
  PairAnswers(Workers& workers, Resources& resources);

  /// What the scene's view needs. `study` is A's, up to date; null while it isn't.
  void ask(const Scene& scene, const std::shared_ptr<const ModelStudy>& study);
  /// Takes what has come; whether there was anything.
  bool take(const Scene& scene, const std::shared_ptr<const ModelStudy>& study, PairState& state);
  /// Whose heads are shown where there are two: of `recorded` in place of text B, unless it is null.
  void askCompared(const Scene& scene, const std::shared_ptr<const ModelStudy>& study,
                   const std::shared_ptr<const OpenModel>& recorded);
  void cancel();
  void forget();
  /// The row of a grid that is pointed at: it is computed first.
  void pointAt(Index row) { nearest_ = row; }

 private:
  /// A grid that fills in as it is computed, from the thread that it is computed on.
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

  /// What of B is shown in place of A's heads.
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

/// The head whose paths into the chosen piece are followed; nothing where the whole piece is put in.
std::optional<PathStart> followedPath(const Scene& scene);
/// Whether the scene has a second text, or a second recording beside one.
bool comparesTwo(const Scene& scene);
/// The scene's text and B changed places, with what belongs to them.
void swapTexts(Scene& scene);

}  // namespace headscope::app::model_page
