#pragma once

#include <array>
#include <string>
#include <string_view>

#include "app/scene/shared_text.h"
#include "app/scene/subject.h"
#include "attention/core/tensor.h"
#include "attention/heads/mistakes.h"

namespace headscope::app {

using attention::Index;

/// What happens to the numbers of a layer, in order.
enum class PipelineStep { input, project, split, dot, scale, bias, mask, softmax, mix, concat, output };
inline constexpr std::array<std::string_view, 11> kPipelineStepNames{
    "input", "project", "split", "dot", "scale", "bias", "mask", "softmax", "mix", "concat", "output"};

/// Which of the three maps the step `project` is worked out for.
enum class MapShown { q, k, v };
inline constexpr std::array<std::string_view, 3> kMapShownNames{"q", "k", "v"};

/// What a classic mistake is made on: a random layer that shows it, or the layer of the scene.
enum class MistakeSubject { random, layer };
inline constexpr std::array<std::string_view, 2> kMistakeSubjectNames{"random", "layer"};

/// What scene files call the mistakes: their keys.
inline constexpr std::array<std::string_view, 13> kMistakeNames{"no_scale",
                                                                "model_scale",
                                                                "wrong_axis",
                                                                "no_maximum",
                                                                "upper_triangle",
                                                                "mask_after",
                                                                "mask_after_renormalised",
                                                                "padding_seen",
                                                                "half_infinity",
                                                                "view_without_transpose",
                                                                "kv_tiled",
                                                                "key_not_transposed",
                                                                "not_divisible"};
/// The head dimensions that the random layer of a mistake about scale can have.
inline constexpr std::array<Index, 7> kMistakeDims{8, 16, 32, 64, 128, 256, 512};

/// What can be made of a layer's weights, as a picture.
enum class HeadPicture { weights, valueWeighted, firstOut, mean, max, difference, rollout };
inline constexpr std::array<std::string_view, 7> kHeadPictureNames{
    "weights", "value_weighted", "first_out", "mean", "max", "difference", "rollout"};

/// How the heads stand below each other beside their scores.
enum class HeadOrder { number, score, likeness };
inline constexpr std::array<std::string_view, 3> kHeadOrderNames{"number", "score", "likeness"};

/// How many small heads can stand beside one wide one.
inline constexpr std::array<Index, 6> kManyHeads{2, 4, 8, 16, 32, 64};

/// How alike two heads are.
enum class Likeness { cosine, jensenShannon };
inline constexpr std::array<std::string_view, 2> kLikenessNames{"cosine", "jensen_shannon"};

/// What the tab of ablation looks at.
enum class AblationView { heads, hull, patch };
inline constexpr std::array<std::string_view, 3> kAblationViewNames{"heads", "hull", "patch"};

/// What its picture of heads × tokens shows.
enum class AblationMeasure { effect, cosine };
inline constexpr std::array<std::string_view, 2> kAblationMeasureNames{"effect", "cosine"};

/// What of the page Page is in sight. Its head, query and key are the cursor's cell.
struct HeadLabCursor {
  std::string tab = "pipeline";  ///< the key of a tab; pages/head_lab/head_lab_tabs.cpp has them
  PipelineStep step = PipelineStep::dot;
  MapShown map = MapShown::q;
  attention::Mistake mistake = attention::Mistake::noScale;
  MistakeSubject subject = MistakeSubject::random;
  Index mistakeDim = 512;                    ///< of the random layer, where the mistake is about scale
  HeadPicture reads = HeadPicture::weights;  ///< what detectors look at: one of the first three
  bool aboveEven = false;                    ///< scores are shown less those of even attention
  std::string detector;                      ///< that heads are ordered by; empty: by none
  bool only = false;                         ///< heads that this detector doesn't name are left out
  HeadOrder order = HeadOrder::number;
  Likeness likeness = Likeness::cosine;
  HeadPicture picture = HeadPicture::valueWeighted;  ///< that is shown large
  Index otherHead = 1;                               ///< whose weights are taken from the head's
  Index manyHeads = 8;                               ///< small heads beside one wide one
  AblationView ablationView = AblationView::heads;
  AblationMeasure measure = AblationMeasure::effect;
  HeadOff offBy = HeadOff::zero;  ///< what stands in for a head that is switched off there
  SharedText patchText;           ///< whose pattern a head takes over
  bool operator==(const HeadLabCursor&) const = default;
};

}  // namespace headscope::app
