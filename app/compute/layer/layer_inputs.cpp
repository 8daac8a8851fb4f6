#include "app/compute/layer/layer_inputs.h"

#include "attention/core/positions.h"
#include "attention/text/planted_positions.h"

namespace headscope::app {

using attention::Matrix;
using attention::Result;
using attention::Token;

bool usesPlantedEmbedding(const Setup& setup) {
  return !setup.subject.opened && setup.weights.source == WeightSource::planted;
}

Result<attention::EmbeddingLayout> plantedLayoutOf(const Setup& setup) {
  return attention::plantedLayout(setup.model.modelDim, isStack(setup) ? setup.model.headDim : 0);
}

namespace {

/// `places`: whether to add positions.
Result<Matrix> embedText(const Setup& setup, const std::vector<Token>& tokens, Index first, bool places) {
  attention::EmbeddingOptions options;
  options.first = places ? first : 1;  // avoids the embedding of the text's first token
  options.modelDim = setup.model.modelDim;
  options.seed = setup.input.seed;
  options.ignoreCase = setup.input.ignoreCase;
  options.sinusoidal = places && setup.model.position == PositionKind::sinusoidal;
  if (!usesPlantedEmbedding(setup)) return attention::embedPlain(tokens, options);
  Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
  if (!layout) return layout.error();
  return attention::embedPlanted(tokens, *layout, options);
}

/// Adds positions to rows of a table.
attention::Status addPlaces(const Setup& setup, Index first, Matrix& x) {
  const bool sinusoidal = setup.model.position == PositionKind::sinusoidal;
  if (usesPlantedEmbedding(setup)) {
    const Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
    if (!layout) return layout.error();
    x += attention::plantedPositions(*layout, first, x.rows(), sinusoidal);
  } else if (sinusoidal) {
    x += attention::sinusoidalPositions(first, x.rows(), x.cols());
  }
  return attention::success();
}

}  // namespace

Result<Matrix> embedTokens(const Setup& setup, const std::vector<Token>& tokens, Index first, Index count) {
  if (setup.input.source == EmbeddingSource::table) {
    Matrix x = setup.input.table->values.middleRows(first, count);
    if (const auto added = addPlaces(setup, first, x); !added) return added.error();
    return x;
  }
  return embedText(setup, {tokens.begin() + first, tokens.begin() + first + count}, first, true);
}

Result<attention::Table> ownVectors(const Setup& setup, const std::vector<Token>& tokens) {
  attention::Table table;
  for (const Token& token : tokens) table.names.push_back(token.text);
  if (setup.input.source == EmbeddingSource::table) {
    table.values = setup.input.table->values;
    return table;
  }
  Result<Matrix> x = embedText(setup, tokens, 0, false);
  if (!x) return x.error();
  table.values = *std::move(x);
  return table;
}

Result<LineInput> embedLine(const Setup& setup, const LineTokens& line) {
  LineInput input;
  Result<Matrix> x = embedTokens(setup, line.queries, 0, static_cast<Index>(line.queries.size()));
  if (!x) return x.error();
  input.x = *std::move(x);
  if (setup.input.cross)
    input.context = *embedTokens(setup, line.keys, 0, static_cast<Index>(line.keys.size()));
  return input;
}

}  // namespace headscope::app
