#pragma once

#include <optional>
#include <vector>

#include "app/snapshot.h"
#include "attention/core/projections.h"

namespace headscope::app {

/// One line of the batch as tokens, padded to the longest line.
struct LineTokens {
  std::vector<attention::Token> queries, keys;  ///< the same in self-attention
  Index queryLength = 0, keyLength = 0;         ///< without padding
};

/// The whole batch as tokens. `lines` is empty when nothing was typed. Errors carry the control they belong
/// to.
struct TokenBatch {
  std::vector<LineTokens> lines;
  std::optional<PlacedError> error;
};
TokenBatch tokenizeBatch(const Setup& setup);

/// The numbers one line goes into attention with.
struct LineInput {
  attention::Matrix x;        ///< [n, modelDim]
  attention::Matrix context;  ///< [m, modelDim]; empty in self-attention
};
/// Embeds one line of the batch.
attention::Result<LineInput> embedLine(const Setup& setup, const LineTokens& line);

/// The layer's weights by the Setup's choice: random, planted for texts of `longest` tokens, or a file.
attention::Result<attention::Projections> buildProjections(const Setup& setup, Index longest);

/// Whether embeddings are laid out in parts for planted heads.
bool usesPlantedEmbedding(const Setup& setup);

}  // namespace headscope::app
