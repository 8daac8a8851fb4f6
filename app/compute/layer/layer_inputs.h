#pragma once

#include <vector>

#include "app/compute/layer/line_tokens.h"
#include "attention/formats/tables.h"
#include "attention/text/embedding.h"

namespace headscope::app {

/// The attention inputs of one line.
struct LineInput {
  attention::Matrix x;        ///< [n, modelDim]
  attention::Matrix context;  ///< [m, modelDim]; empty for self-attention
};
/// Returns the embeddings of tokens first … first+count−1 of a line, [count, modelDim].
attention::Result<attention::Matrix> embedTokens(const Setup& setup,
                                                 const std::vector<attention::Token>& tokens, Index first,
                                                 Index count);
/// Returns the tokens' vectors without positions, named by token, as a table for the same layer would hold
/// them: [tokens, modelDim].
attention::Result<attention::Table> ownVectors(const Setup& setup,
                                               const std::vector<attention::Token>& tokens);

/// Embeds one line of the batch.
attention::Result<LineInput> embedLine(const Setup& setup, const LineTokens& line);

/// Returns the layout of embeddings for planted heads. For several layers it leaves space for what layers
/// write.
attention::Result<attention::EmbeddingLayout> plantedLayoutOf(const Setup& setup);
/// Whether embeddings have the layout for planted heads; false for an opened model.
bool usesPlantedEmbedding(const Setup& setup);
}  // namespace headscope::app
