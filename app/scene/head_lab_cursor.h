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

/// The steps of a layer's computation, in order.
enum class PipelineStep { input, project, split, dot, scale, bias, mask, softmax, mix, concat, output };
inline constexpr std::array<std::string_view, 11> kPipelineStepNames{
    "input", "project", "split", "dot", "scale", "bias", "mask", "softmax", "mix", "concat", "output"};

/// The projection that the step `project` shows.
enum class MapShown { q, k, v };
inline constexpr std::array<std::string_view, 3> kMapShownNames{"q", "k", "v"};

/// The layer a classic mistake is applied to: a random one that shows it, or the scene's.
enum class MistakeSubject { random, layer };
inline constexpr std::array<std::string_view, 2> kMistakeSubjectNames{"random", "layer"};

/// The mistakes' names in scene files, which are their keys.
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
/// The head dims to choose from for the random layer of mistakes about scale.
inline constexpr std::array<Index, 7> kMistakeDims{8, 16, 32, 64, 128, 256, 512};

/// Pictures of a layer's weights.
enum class HeadPicture { weights, valueWeighted, firstOut, mean, max, difference, rollout };
inline constexpr std::array<std::string_view, 7> kHeadPictureNames{
    "weights", "value_weighted", "first_out", "mean", "max", "difference", "rollout"};

/// The order of the heads next to their scores.
enum class HeadOrder { number, score, likeness };
inline constexpr std::array<std::string_view, 3> kHeadOrderNames{"number", "score", "likeness"};

/// The numbers of small heads that can be compared with a wide one.
inline constexpr std::array<Index, 6> kManyHeads{2, 4, 8, 16, 32, 64};

/// Measures of the similarity of two heads.
enum class Similarity { cosine, jensenShannon };
inline constexpr std::array<std::string_view, 2> kSimilarityNames{"cosine", "jensen_shannon"};

/// What the ablation tab shows.
enum class AblationView { heads, hull, patch };
inline constexpr std::array<std::string_view, 3> kAblationViewNames{"heads", "hull", "patch"};

/// What its picture of heads × tokens shows.
enum class AblationMeasure { effect, cosine };
inline constexpr std::array<std::string_view, 2> kAblationMeasureNames{"effect", "cosine"};

/// What the Lab page shows. Its head, query and key are the cursor's cell.
struct HeadLabCursor {
  std::string tab = "pipeline";  ///< key of a tab, from pages/head_lab/head_lab_tabs.cpp
  PipelineStep step = PipelineStep::dot;
  MapShown map = MapShown::q;
  attention::Mistake mistake = attention::Mistake::noScale;
  MistakeSubject subject = MistakeSubject::random;
  Index mistakeDim = 512;                    ///< head dim of the random layer, for mistakes about scale
  HeadPicture reads = HeadPicture::weights;  ///< what detectors measure: one of the first three
  bool aboveEven = false;                    ///< subtracts the scores of even attention
  std::string detector;                      ///< the one that orders the heads; empty = none
  bool only = false;                         ///< hides heads that this detector doesn't name
  HeadOrder order = HeadOrder::number;
  Similarity likeness = Similarity::cosine;
  HeadPicture picture = HeadPicture::valueWeighted;  ///< the one shown large
  Index otherHead = 1;                               ///< subtracted from the chosen head
  Index manyHeads = 8;                               ///< small heads compared with a wide one
  AblationView ablationView = AblationView::heads;
  AblationMeasure measure = AblationMeasure::effect;
  HeadOff offBy = HeadOff::zero;  ///< what replaces an ablated head's output
  SharedText patchText;           ///< text whose pattern a head takes over
  bool operator==(const HeadLabCursor&) const = default;
};

}  // namespace headscope::app
