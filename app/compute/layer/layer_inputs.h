#pragma once

#include <vector>

#include "app/compute/layer/line_tokens.h"
#include "attention/formats/tables.h"
#include "attention/text/embedding.h"

namespace headscope::app {

/// The numbers one line goes into attention with.
struct LineInput {
  attention::Matrix x;        ///< [n, modelDim]
  attention::Matrix context;  ///< [m, modelDim]; empty in self-attention
};
/// Embeddings of tokens first … first+count−1 of a line, [count, modelDim].
attention::Result<attention::Matrix> embedTokens(const Setup& setup,
                                                 const std::vector<attention::Token>& tokens, Index first,
                                                 Index count);
/// The tokens' own vectors, with nothing that tells places apart, under their names: what stands in a table
/// for the same layer. [tokens, modelDim]
attention::Result<attention::Table> ownVectors(const Setup& setup,
                                               const std::vector<attention::Token>& tokens);

/// Embeds one line of the batch.
attention::Result<LineInput> embedLine(const Setup& setup, const LineTokens& line);

/// How embeddings are laid out for planted heads: of several layers with room for what layers write.
attention::Result<attention::EmbeddingLayout> plantedLayoutOf(const Setup& setup);
/// Whether embeddings are laid out in parts for planted heads; not those of an opened model.
bool usesPlantedEmbedding(const Setup& setup);
}  // namespace headscope::app
