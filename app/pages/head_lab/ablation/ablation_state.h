#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/compute/heads/ablation_study.h"
#include "app/compute/heads/hull_study.h"
#include "app/compute/heads/patch_study.h"
#include "app/compute/model/text_loss.h"
#include "app/pages/head_lab/head_lab_state.h"

namespace headscope::app::head_lab_page {

/// What that tab shows beside the scene: free for its panels to change.
struct AblationState {
  explicit AblationState(State& lab) : page(lab) {}

  State& page;
  std::shared_ptr<const AblationStudy> study;  ///< null until it is there
  std::shared_ptr<const HullStudy> hull;
  std::shared_ptr<const PatchStudy> patch;
  std::string patchProblem;

  /// How a model's guesses change: of its text with all heads on, as the scene is, and without each head of
  /// the layer alone. Null until they are there; `losses` is empty without a model.
  std::shared_ptr<const TextLoss> allOn, asIs;
  std::vector<std::shared_ptr<const TextLoss>> without;  ///< [heads]
  std::string lossProblem;
};

/// The heads' effects as a picture of heads × tokens, with a box for each head.
void ablationMap(Scene& scene, AblationState& ablation, const ImRect& area);
/// How one token's output is put together, and what a model makes of it.
void ablationSide(Scene& scene, AblationState& ablation, const ImRect& area);
/// A head's values and its output inside their convex hull.
void hullView(Scene& scene, AblationState& ablation, const ImRect& area);
/// One head with the pattern of another text.
void patchView(Scene& scene, AblationState& ablation, const ImRect& area);

/// Switches a head of the shown layer off, or on again.
void toggleHead(Scene& scene, Index head);
/// Whether any head of it is off.
bool anyOff(const Scene& scene);

}  // namespace headscope::app::head_lab_page
