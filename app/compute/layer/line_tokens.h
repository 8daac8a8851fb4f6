#pragma once

#include <optional>
#include <vector>

#include "app/compute/layer/placed_error.h"
#include "app/scene/scene.h"

namespace headscope::app {

/// One line of the batch as tokens, padded to the longest line.
struct LineTokens {
  std::vector<attention::Token> queries, keys;  ///< the same in self-attention
  Index queryLength = 0, keyLength = 0;         ///< without padding
  std::vector<Index> ids = {};                  ///< [n], as an opened model has them; else empty
};

/// The whole batch as tokens. `lines` is empty when nothing was typed. Errors carry the control they belong
/// to.
struct TokenBatch {
  std::vector<LineTokens> lines;
  std::optional<PlacedError> error;
};
TokenBatch tokenizeBatch(const Setup& setup);

/// One line of the batch alone, of up to `most` tokens; padded to the longest line like all of them.
struct TokenLine {
  std::optional<LineTokens> line;  ///< nothing where nothing was typed
  Index sequence = 0;              ///< which line it is: the one that was asked for, if there are so many
  std::optional<PlacedError> error;
};
TokenLine tokenizeLine(const Setup& setup, Index sequence, Index most);

}  // namespace headscope::app
