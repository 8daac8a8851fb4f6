#pragma once

#include <optional>
#include <vector>

#include "app/compute/layer/snapshot.h"
#include "app/scene/model_fit.h"
#include "attention/core/projections.h"

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

/// The numbers one line goes into attention with.
struct LineInput {
  attention::Matrix x;        ///< [n, modelDim]
  attention::Matrix context;  ///< [m, modelDim]; empty in self-attention
};
/// Embeddings of tokens first … first+count−1 of a line, [count, modelDim].
attention::Result<attention::Matrix> embedTokens(const Setup& setup,
                                                 const std::vector<attention::Token>& tokens, Index first,
                                                 Index count);
/// Embeds one line of the batch.
attention::Result<LineInput> embedLine(const Setup& setup, const LineTokens& line);

/// Which of the file's layers the shown one is, by the number in its names; −1: the only one.
Index layerOfFile(const Setup& setup);
/// The layer a weights file holds.
struct LayerWeights {
  attention::AttentionConfig config;
  attention::Projections projections;
};
attention::Result<LayerWeights> readLayerWeights(const Setup& setup, std::uint64_t budget);
/// Whether a file's layer is of the sizes that the scene has.
attention::Status checkLayer(const Setup& setup, const attention::AttentionConfig& found);

/// How many positions planted heads are made for in texts of `longest` tokens.
Index plantedReach(Index longest);

/// The seed of the shown layer's weights: of the first the scene's, of each other one of its own.
std::uint64_t layerSeed(const Setup& setup);
/// How embeddings are laid out for planted heads: of several layers with room for what layers write.
attention::Result<attention::EmbeddingLayout> plantedLayoutOf(const Setup& setup);
/// Whether a layer below the shown one has a planted head that looks at the previous token: the first such
/// carries that token on to the layers above.
bool carriedBelow(const Setup& setup);
/// Whether the shown layer is the one that does.
bool carriesPrevious(const Setup& setup);

/// The shown layer's weights by the Setup's choice: random, planted for texts of `longest` tokens, or a file.
attention::Result<attention::Projections> buildProjections(const Setup& setup, Index longest);

/// Whether embeddings are laid out in parts for planted heads; not those of an opened model.
bool usesPlantedEmbedding(const Setup& setup);
/// Why the heads of one of the layers can't be planted in so few dimensions; "" where they can, or aren't
/// planted.
std::string plantedMisfit(const Setup& setup);
/// By how many dimensions the shown layer's induction heads tell words apart, where that is too few; else 0.
Index narrowInduction(const Setup& setup);
/// Whether the same heads can be planted in another model; empty where they aren't planted.
Suits plantingSuits(const Setup& setup);

}  // namespace headscope::app
