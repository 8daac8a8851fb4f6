#pragma once

#include <vector>

#include "app/scene/shared_text.h"
#include "attention/models/patch.h"

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
  /// Ids of two tokens, whose logits after the last token are compared; −1: the likeliest of A, and of B.
  Index answer = -1, otherAnswer = -1;
  bool intoA = false;  ///< pieces of B are put into A, else pieces of A into B
  std::vector<KeptPatch> patches;
  /// A head whose paths are followed: of Q, K and V only what it changes directly is put in; −1: none.
  Index fromLayer = -1, fromHead = -1;
  bool operator==(const CompareSetup&) const = default;
};

/// What the page of the model shows in its middle.
enum class ModelView { heads, patch, attribution, lens };
/// Whose heads are shown where there are two texts.
enum class ShownText { a, b, difference };

}  // namespace headscope::app
