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

/// What stands in for a head that is switched off: nothing, or its mean over all tokens.
enum class HeadOff { zero, mean };

/// A head of a model that is switched off.
struct SwitchedHead {
  Index layer = 0, head = 0;
  HeadOff by = HeadOff::zero;
  bool operator==(const SwitchedHead&) const = default;
};

/// Which of a model's layers masks, biases, sharpness, soft-cap and dropout act on: all, or the one that is
/// looked at.
enum class EditScope { all, one };

/// What the scene's layer is: made here, or one of a model's. With a model the sizes in ModelSetup are the
/// model's, and its numbers of score terms act beside the model's own.
struct SubjectSetup {
  std::string model;  ///< the checkpoint's folder, or kLearned; empty: the layer is made here
  /// A PNG or JPEG: what a model that reads pictures is on, or what lies beside recorded attention.
  std::string picture = {};
  Index layer = 0;
  EditScope scope = EditScope::all;
  std::vector<SwitchedHead> switchedOff;
  std::vector<Index> written;  ///< ids that the model wrote behind the text
  /// Of an encoder–decoder: the decoder's text, in place of its answer or of what is typed; never part of a
  /// document. Empty: there is none.
  std::vector<Index> decoderIds = {};
  std::string features;  ///< a file of what an encoder made that isn't computed here; or empty

  std::shared_ptr<const OpenModel> opened;  ///< null where `model` is empty, or could not be opened:
  std::string problem;                      ///< why
  bool operator==(const SubjectSetup&) const = default;
};

/// How the model chooses the tokens that it writes; as attention::Sampling has them.
struct GenerationSetup {
  double temperature = 0;  ///< 0: always the likeliest
  Index topK = 0;          ///< 0: all
  double topP = 1;
  std::uint64_t seed = 1;
  bool operator==(const GenerationSetup&) const = default;
};

/// What the page of the model is set to look at. Its head, query and key are the cursor's cell.
struct ModelCursor {
  Index layer = 0;  ///< of the head that is shown large
  Index stop = -1;  ///< where on the residual stream guesses are read off: l after layer l − 1; −1: the end
  std::string detector;   ///< heads that others than these are faded beside; empty: none are
  bool byScore = false;   ///< in each layer the heads stand in the order of the detector's score
  bool firstOut = false;  ///< without the first token's column, rows renormalised
  ModelView view = ModelView::heads;
  PictureMap pictureMap = PictureMap::query;
  bool byKey = false;  ///< what heads add to the answer is shown by the token they read
  ShownText shown = ShownText::a;
  StudyCursor study;                                       ///< of many texts
  attention::Piece piece = attention::Piece::head;         ///< that is patched, layer by head
  attention::Piece tokenPiece = attention::Piece::stream;  ///< and layer by token
  bool operator==(const ModelCursor&) const = default;
};

/// What a scene calls the small model that comes with the program.
inline constexpr const char* kLearned = "learned";

}  // namespace headscope::app
