#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/compute/heads/lab_studies.h"
#include "app/compute/model/model_study.h"
#include "app/kit/board.h"
#include "app/pages/head_lab/head_lab_page.h"

namespace headscope::app::head_lab_page {

/// The tab's view state, which its panels may change.
struct AblationState {
  AblationState(State& lab, Shown<LossQuestion, TextLoss>::Taken onLoss)
      : page(lab),
        study(lab.shown, studyAblation),
        hull(lab.shown, studyHull),
        patch(lab.shown, studyPatch),
        loss(lab.shown, textLoss, {}, std::move(onLoss)) {}

  State& page;
  Shown<std::shared_ptr<const LayerParts>, AblationStudy> study;
  Shown<HullQuestion, HullStudy> hull;
  Shown<PatchQuestion, PatchStudy> patch;
  Shown<LossQuestion, TextLoss> loss;  ///< the newest of the losses below

  /// A model's loss on its text: with all heads on, as in the scene, and without each head of the layer
  /// alone. Null until computed; `without` is empty without a model.
  std::shared_ptr<const TextLoss> allOn, asIs;
  std::vector<std::shared_ptr<const TextLoss>> without;  ///< [heads]
};

// The tab's views. They require `ablation.study`.

/// The effect of each head on each token's output, and how one token's output is composed.
void headsView(Scene& scene, AblationState& ablation, Board& board);
/// A head's values, and its output inside their convex hull.
void hullView(Scene& scene, AblationState& ablation, Board& board);
/// One head with the attention pattern of another text.
void patchView(Scene& scene, AblationState& ablation, Board& board);

/// Draws the heads' effects as a picture of heads × tokens, with a checkbox per head.
void ablationMap(Scene& scene, AblationState& ablation, const ImRect& area);

/// Switches a head of the shown layer off, or on again.
void toggleHead(Scene& scene, Index head);
/// Whether any head of the shown layer is off.
bool anyOff(const Scene& scene);

}  // namespace headscope::app::head_lab_page
