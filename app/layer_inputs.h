#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "app/snapshot.h"
#include "attention/core/projections.h"

namespace headscope::app {

/// The numbers one line of the batch goes into attention with.
struct LineInput {
  std::vector<attention::Token> queries, keys;  ///< padded
  Index queryLength = 0, keyLength = 0;
  attention::Matrix x;        ///< [n, modelDim]
  attention::Matrix context;  ///< [m, modelDim]; empty in self-attention
};

/// The whole batch, padded to its longest line. `lines` is empty when nothing was typed.
struct BatchInput {
  std::vector<LineInput> lines;
};

/// Tokenizes and embeds. Errors carry the control they belong to.
struct BatchResult {
  BatchInput batch;
  std::optional<PlacedError> error;
};
/// `check` is asked once the sizes are known, before anything is embedded: how many lines of how many queries
/// and keys; what it answers is the error.
using BatchCheck = std::function<std::optional<PlacedError>(Index lines, Index queries, Index keys)>;
BatchResult buildBatch(const Setup& setup, const BatchCheck& check = {});

/// The layer's weights by the Setup's choice: random, planted for texts of `longest` tokens, or a file.
attention::Result<attention::Projections> buildProjections(const Setup& setup, Index longest);

/// Whether embeddings are laid out in parts for planted heads.
bool usesPlantedEmbedding(const Setup& setup);

}  // namespace headscope::app
