#pragma once

#include <string>
#include <vector>

#include "app/scene/shared_text.h"
#include "attention/models/patch.h"
#include "attention/models/token_alignment.h"

namespace headscope::app {

using attention::Index;

/// A piece of one text's run that is put into the other's.
struct KeptPatch {
  attention::Piece piece = attention::Piece::head;
  Index layer = 0;   ///< of the stream: before this layer
  Index head = -1;   ///< −1: all; of keys and values a KV head
  Index token = -1;  ///< of the text that is patched; −1: all
  bool operator==(const KeptPatch&) const = default;
};

/// A second text beside the scene's, B, and what is asked about both. It takes part in undo and files.
struct CompareSetup {
  SharedText other;  ///< B; empty: there is the scene's text alone
  /// Of recorded attention in place of a text: the file, with its group, whose heads are B; empty: there is
  /// none.
  std::string recorded;
  /// A file of texts that every head is measured on; kExampleTexts: those of the bundled model; empty: none.
  std::string texts;
  /// Ids of two tokens, whose logits after the last token are compared; −1: the likeliest of A, and of B.
  Index answer = -1, otherAnswer = -1;
  /// Tokens of A and B that a person tied or untied, beside those that are equal. It goes when a text
  /// changes.
  std::vector<attention::TokenTie> alignment;
  bool intoA = false;  ///< pieces of B are put into A, else pieces of A into B
  std::vector<KeptPatch> patches;
  /// A head whose paths are followed: of Q, K and V only what it changes directly is put in; −1: none.
  Index fromLayer = -1, fromHead = -1;
  bool operator==(const CompareSetup&) const = default;
};

/// The same with nothing beside the scene's text.
inline CompareSetup withoutOther(const CompareSetup& compare) {
  CompareSetup alone;
  alone.texts = compare.texts;
  return alone;
}

/// What a scene calls the bundled model's example texts.
inline constexpr const char* kExampleTexts = "examples";

/// What the page of the model shows in its middle.
enum class ModelView { heads, patch, attribution, lens, study };
/// What is laid over a picture whose patches are the tokens: the chosen query's weights, the first token's,
/// or the chosen query's through all layers up to the head's (rollout; Abnar & Zuidema 2020).
enum class PictureMap { query, first, rollout };
/// How what many texts say of every head is shown.
enum class StudyShape { table, map, scatter };
struct StudyCursor {
  StudyShape shape = StudyShape::table;
  std::string column = "attribution", across = "loss";  ///< sorted by, or upwards; and along the scatter
  bool smallestFirst = false;
  bool operator==(const StudyCursor&) const = default;
};
/// Whose heads are shown where there are two texts.
enum class ShownText { a, b, difference };

}  // namespace headscope::app
