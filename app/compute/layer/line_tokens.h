#pragma once

#include <optional>
#include <vector>

#include "app/compute/layer/placed_error.h"
#include "app/scene/scene.h"

namespace headscope::app {

/// One line of the batch as tokens, padded to the longest line.
struct LineTokens {
  std::vector<attention::Token> queries, keys;  ///< equal for self-attention
  Index queryLength = 0, keyLength = 0;         ///< without padding
  std::vector<Index> ids = {};                  ///< [n], the opened model's token ids; otherwise empty
};

/// The whole batch as tokens. `lines` is empty if nothing was typed. An error carries the control it belongs
/// to.
struct TokenBatch {
  std::vector<LineTokens> lines;
  std::optional<PlacedError> error;
};
TokenBatch tokenizeBatch(const Setup& setup);

/// One line of the batch, of up to `most` tokens, padded to the longest line of the batch.
struct TokenLine {
  std::optional<LineTokens> line;  ///< none if nothing was typed
  Index sequence = 0;              ///< index of the line: the requested one, or the last
  std::optional<PlacedError> error;
};
TokenLine tokenizeLine(const Setup& setup, Index sequence, Index most);

}  // namespace headscope::app
