#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/scene/compare_setup.h"
#include "attention/core/tensor.h"

namespace headscope::app {

using attention::Index;

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

}  // namespace headscope::app
