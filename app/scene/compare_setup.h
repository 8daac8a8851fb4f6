#pragma once

#include <string>
#include <vector>

#include "app/scene/shared_text.h"
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

}  // namespace headscope::app
