#pragma once

#include <array>

#include "app/scene/shared_value.h"
#include "attention/heads/mistakes.h"
#include "attention/models/patch.h"
#include "attention/models/token_alignment.h"

namespace headscope::app {

using attention::Index;

/// A piece of one text's run that replaces the same piece in the other's.
struct KeptPatch {
  attention::Piece piece = attention::Piece::head;
  Index layer = 0;   ///< the stream is taken before this layer
  Index head = -1;   ///< −1 = all; a kv head for keys and values
  Index token = -1;  ///< of the patched text; −1 = all
  bool operator==(const KeptPatch&) const = default;
};

/// A second text, B, and settings for comparing it with the scene's text, A. Part of undo and files.
struct CompareSetup {
  SharedText other;  ///< B; empty = only the scene's text
  /// For recorded attention, in place of a text: the file, with its group, whose heads are B; empty = none.
  std::string recorded;
  /// A file of texts to measure every head on; kExampleTexts = the bundled model's, empty = none.
  std::string texts;
  /// Ids of two tokens whose logits after the last token are compared; −1 = the most likely of A, and of B.
  Index answer = -1, otherAnswer = -1;
  /// Tokens of A and B that the user aligned or separated, in addition to equal ones. Cleared when a text
  /// changes.
  std::vector<attention::TokenTie> alignment;
  bool intoA = false;  ///< puts pieces of B into A, instead of pieces of A into B
  std::vector<KeptPatch> patches;
  /// A head whose paths are followed: only its direct changes to Q, K and V are patched; −1 = none.
  Index fromLayer = -1, fromHead = -1;
  bool operator==(const CompareSetup&) const = default;
};

/// Returns the setup without a second text; keeps `texts`.
inline CompareSetup withoutOther(const CompareSetup& compare) {
  CompareSetup alone;
  alone.texts = compare.texts;
  return alone;
}

/// The name of the bundled model's example texts in scenes.
inline constexpr const char* kExampleTexts = "examples";

/// The main view of the Model page.
enum class ModelView { heads, patch, attribution, lens, study };
/// The map over a picture whose patches are the tokens: the chosen query's weights, the first token's, or the
/// chosen query's rollout through all layers up to the head's (Abnar & Zuidema 2020).
enum class PictureMap { query, first, rollout };
/// How each head's results over many texts are shown.
enum class StudyShape { table, map, scatter };
struct StudyCursor {
  StudyShape shape = StudyShape::table;
  std::string column = "attribution", across = "loss";  ///< sort key or y axis; x axis of the scatter
  bool smallestFirst = false;
  bool operator==(const StudyCursor&) const = default;
};
/// Whose heads are shown if there are two texts.
enum class ShownText { a, b, difference };

struct OpenModel;

/// What replaces the output of a switched-off head: zero, or its mean over all tokens.
enum class HeadOff { zero, mean };

/// A switched-off head of a model.
struct SwitchedHead {
  Index layer = 0, head = 0;
  HeadOff by = HeadOff::zero;
  bool operator==(const SwitchedHead&) const = default;
};

/// The layers of a model that masks, biases, sharpness, soft-cap and dropout apply to: all, or the one shown.
enum class EditScope { all, one };

/// The scene's layer: a synthetic one, or one of a model's. With a model, the sizes in ModelSetup are the
/// model's, and the numbers of its score terms apply in addition to the model's own.
struct SubjectSetup {
  std::string model;  ///< the checkpoint's folder, or kLearned; empty = a synthetic layer
  /// A PNG or JPEG: the input of a model that reads pictures, or shown with recorded attention.
  std::string picture = {};
  Index layer = 0;
  EditScope scope = EditScope::all;
  std::vector<SwitchedHead> switchedOff;
  std::vector<Index> written;  ///< ids that the model generated after the text
  /// For an encoder–decoder: the decoder's text, in place of its answer or of typed text. Never part of a
  /// document; empty = none.
  std::vector<Index> decoderIds = {};
  std::string features;  ///< file of an encoder's output that isn't computed here; empty = none

  std::shared_ptr<const OpenModel> opened;  ///< null if `model` is empty or couldn't be opened
  std::string problem;                      ///< why it, or its picture, couldn't be opened
  bool operator==(const SubjectSetup&) const = default;
};

/// How the model chooses the tokens it generates; see attention::Sampling.
struct GenerationSetup {
  double temperature = 0;  ///< 0 = always the most likely
  Index topK = 0;          ///< 0 = all
  double topP = 1;
  std::uint64_t seed = 1;
  bool operator==(const GenerationSetup&) const = default;
};

/// What the Model page shows. Its head, query and key are the cursor's cell.
struct ModelCursor {
  Index layer = 0;  ///< layer of the head shown large
  Index stop = -1;  ///< predictions are read from the stream after layer stop − 1; 0 = embedding, −1 = end
  std::string detector;   ///< other heads than those it names are faded; empty = none are
  bool byScore = false;   ///< sorts each layer's heads by the detector's score
  bool firstOut = false;  ///< without the first token's column, rows renormalised
  ModelView view = ModelView::heads;
  PictureMap pictureMap = PictureMap::query;
  bool byKey = false;  ///< shows what heads add to the answer by the token they read
  ShownText shown = ShownText::a;
  StudyCursor study;                                       ///< over many texts
  attention::Piece piece = attention::Piece::head;         ///< the patched piece, layer by head
  attention::Piece tokenPiece = attention::Piece::stream;  ///< the patched piece, layer by token
  bool operator==(const ModelCursor&) const = default;
};

/// The name of the bundled small model in scenes.
inline constexpr const char* kLearned = "learned";

/// The steps of a layer's computation, in order.
enum class PipelineStep { input, project, split, dot, scale, bias, mask, softmax, mix, concat, output };
inline constexpr std::array<std::string_view, 11> kPipelineStepNames{
    "input", "project", "split", "dot", "scale", "bias", "mask", "softmax", "mix", "concat", "output"};

/// The moment of a layer's computation that Flow shows.
struct FlowCursor {
  PipelineStep stage = PipelineStep::dot;
  double t = 0.6;  ///< share of the stage that has passed, 0 to 1
  bool operator==(const FlowCursor&) const = default;
};

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
  std::string tab;  ///< key of a tab, from pages/head_lab/head_lab_tabs.cpp; "" until the page is shown
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
