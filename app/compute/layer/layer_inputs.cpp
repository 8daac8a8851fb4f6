#include "app/compute/layer/layer_inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/layer_file.h"
#include "app/compute/layer/model_pass.h"
#include "app/compute/layer/own_vectors.h"
#include "attention/core/positions.h"
#include "attention/core/random.h"
#include "attention/core/weight_init.h"
#include "attention/formats/files/regular_file.h"
#include "attention/text/planted_positions.h"

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::Projections;
using attention::Result;
using attention::Token;
using TokenLines = std::vector<std::vector<Token>>;

bool usesPlantedEmbedding(const Setup& setup) {
  return !setup.subject.opened && setup.weights.source == WeightSource::planted;
}

namespace {

/// Whether a text of this word alone is a separator.
bool isSeparator(const std::string& name) {
  const auto lines = attention::tokenize(name, attention::Tokenization::words);
  return lines && lines->size() == 1 && lines->front().size() == 1 && lines->front().front().separator;
}

/// A table's rows as tokens: their names, or t0, t1, …
std::vector<Token> tableTokens(const attention::Table& table) {
  std::vector<Token> tokens;
  for (Index row = 0; row < table.values.rows(); ++row) {
    const std::string name = row < static_cast<Index>(table.names.size()) ? table.names[row] : "";
    tokens.push_back({name.empty() ? fmt::format("t{}", row) : name, isSeparator(name)});
  }
  return tokens;
}

std::size_t longestLine(const TokenLines& lines) {
  std::size_t longest = 0;
  for (const auto& line : lines) longest = std::max(longest, line.size());
  return longest;
}

std::vector<Token> padded(std::vector<Token> tokens, std::size_t length) {
  tokens.resize(length, Token{"<pad>", false});
  return tokens;
}

/// `places`: with what tells places apart.
Result<Matrix> embedText(const Setup& setup, const std::vector<Token>& tokens, Index first, bool places) {
  attention::EmbeddingOptions options;
  options.first = places ? first : 1;  // no row is that of the text's first token
  options.modelDim = setup.model.modelDim;
  options.seed = setup.input.seed;
  options.ignoreCase = setup.input.ignoreCase;
  options.sinusoidal = places && setup.model.position == PositionKind::sinusoidal;
  if (!usesPlantedEmbedding(setup)) return attention::embedPlain(tokens, options);
  Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
  if (!layout) return layout.error();
  return attention::embedPlanted(tokens, *layout, options);
}

/// Adds what tells places apart to rows of a table.
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

/// Words without an end would be measured and drawn in every frame.
std::optional<PlacedError> checkTokens(const TokenLines& lines, Place place) {
  constexpr std::size_t kMaxTokenBytes = 4096;
  for (std::size_t line = 0; line < lines.size(); ++line)
    for (std::size_t at = 0; at < lines[line].size(); ++at)
      if (const std::size_t bytes = lines[line][at].text.size(); bytes > kMaxTokenBytes)
        return PlacedError{place, fmt::format("Token {} of line {} has {} bytes; it can have at most {}. Put "
                                              "spaces into it, or tokenize by characters.",
                                              at, line + 1, bytes, kMaxTokenBytes)};
  return std::nullopt;
}

std::optional<PlacedError> checkLines(const TokenLines& lines, Place place, Index most) {
  if (auto error = checkTokens(lines, place)) return error;
  const std::size_t longest = longestLine(lines);
  if (longest > static_cast<std::size_t>(most))
    return PlacedError{place,
                       fmt::format("The longest line has {} tokens; {} shown for at most {}. {}", longest,
                                   most < kMaxMapTokens ? "all heads at once are" : "the map is", most,
                                   most < kMaxMapTokens ? "Look at it on the Map page, or shorten it."
                                                        : "Shorten it, or tokenize by words.")};
  if (lines.size() > static_cast<std::size_t>(kMaxLines))
    return PlacedError{
        place, fmt::format("The text has {} lines, each a sequence of the batch; at most {} can be shown.",
                           lines.size(), kMaxLines)};
  return std::nullopt;
}

/// The lines of the text and what each of them reads, without padding.
struct TextLines {
  TokenLines queries, keys;
  std::optional<PlacedError> error = {};
  std::vector<Index> ids = {};
};

TextLines refusedLines(Place place, std::string message) {
  return {{}, {}, PlacedError{place, std::move(message)}};
}

/// What a model reads is one sequence, whatever lines it has.
TextLines modelLines(const Setup& setup, Index most) {
  if (!setup.subject.opened) return refusedLines(Place::model, setup.subject.problem);
  Result<ModelText> text = readModelText(setup);
  if (!text) return refusedLines(Place::input, text.error().message);
  if (text->ids.empty()) return {};
  TextLines lines;
  lines.queries = {std::move(text->tokens)};
  lines.error = checkLines(lines.queries, Place::input, most);
  lines.keys = lines.queries;
  lines.ids = std::move(text->ids);
  return lines;
}

TextLines tableLines(const Setup& setup, Index most) {
  const attention::Table& table = *setup.input.table;
  if (table.values.rows() == 0) return {};
  if (setup.input.cross)
    return refusedLines(Place::context,
                        "Cross-attention reads two texts; typed embeddings are one sequence.");
  if (table.values.cols() != setup.model.modelDim)
    return refusedLines(Place::model,
                        fmt::format("The typed embeddings have {} dimensions, but the model dim is {}.",
                                    table.values.cols(), setup.model.modelDim));
  TextLines lines;
  lines.queries = {tableTokens(table)};
  lines.error = checkLines(lines.queries, Place::input, most);
  lines.keys = lines.queries;
  return lines;
}

/// The context lines for each line of the text; with one context line, the same for all.
std::optional<PlacedError> matchContext(const TokenLines& lines, TokenLines& context, Index most) {
  if (context.empty())
    return PlacedError{Place::context, "Cross-attention needs a context: type the text that is read.", true};
  if (context.size() == 1) context.resize(lines.size(), context.front());
  if (context.size() != lines.size())
    return PlacedError{
        Place::context,
        fmt::format(
            "The context has {} lines and the text {}: give one context line for all, or one for each.",
            context.size(), lines.size())};
  return checkLines(context, Place::context, most);
}

TextLines tokenizeLines(const Setup& setup, Index most) {
  if (!setup.subject.model.empty()) return modelLines(setup, most);
  if (setup.input.source == EmbeddingSource::table) return tableLines(setup, most);
  Result<TokenLines> text = attention::tokenize(*setup.input.text, setup.input.tokenization);
  if (!text) return refusedLines(Place::input, text.error().message);
  if (text->empty()) return {};
  if (auto error = checkLines(*text, Place::input, most)) return refusedLines(error->place, error->message);
  TextLines lines;
  lines.queries = *std::move(text);
  if (!setup.input.cross) {
    lines.keys = lines.queries;
  } else {
    Result<TokenLines> context = attention::tokenize(*setup.input.contextText, setup.input.tokenization);
    if (!context) return refusedLines(Place::context, context.error().message);
    lines.keys = *std::move(context);
    lines.error = matchContext(lines.queries, lines.keys, most);
  }
  return lines;
}

/// Takes line `at` out of `lines`, padded to n queries and m keys.
LineTokens takeLine(TextLines& lines, std::size_t at, std::size_t n, std::size_t m) {
  LineTokens line;
  line.queryLength = static_cast<Index>(lines.queries[at].size());
  line.keyLength = static_cast<Index>(lines.keys[at].size());
  line.queries = padded(std::move(lines.queries[at]), n);
  line.keys = padded(std::move(lines.keys[at]), m);
  line.ids = std::move(lines.ids);
  return line;
}

}  // namespace

TokenBatch tokenizeBatch(const Setup& setup) {
  TextLines lines = tokenizeLines(setup, kMaxTokens);
  if (lines.error) return {{}, lines.error};
  const std::size_t n = longestLine(lines.queries), m = longestLine(lines.keys);
  TokenBatch batch;
  for (std::size_t i = 0; i < lines.queries.size(); ++i) batch.lines.push_back(takeLine(lines, i, n, m));
  return batch;
}

TokenLine tokenizeLine(const Setup& setup, Index sequence, Index most) {
  TextLines lines = tokenizeLines(setup, most);
  if (lines.error) return {std::nullopt, 0, lines.error};
  if (lines.queries.empty()) return {};
  const std::size_t n = longestLine(lines.queries), m = longestLine(lines.keys);
  const Index at = std::clamp<Index>(sequence, 0, static_cast<Index>(lines.queries.size()) - 1);
  return {takeLine(lines, static_cast<std::size_t>(at), n, m), at, std::nullopt};
}

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

Index layerOfFile(const Setup& setup) {
  if (!isStack(setup)) return setup.weights.layer;
  return std::max<Index>(setup.weights.layer, 0) + shownLayer(setup);
}

std::uint64_t layerSeed(const Setup& setup) {
  const Index layer = shownLayer(setup);
  return layer == 0 ? setup.weights.seed
                    : attention::mixSeed(setup.weights.seed, static_cast<std::uint64_t>(layer));
}

Result<attention::EmbeddingLayout> plantedLayoutOf(const Setup& setup) {
  return attention::plantedLayout(setup.model.modelDim, isStack(setup) ? setup.model.headDim : 0);
}

static bool looksBack(const Setup& setup) {
  const auto heads = plantedHeads(setup);
  return std::ranges::find(heads, attention::PlantedHead{attention::Behaviour::offset, 1}) != heads.end();
}

bool carriedBelow(const Setup& setup) {
  for (Index below = 0; below < shownLayer(setup); ++below)
    if (looksBack(withLayer(setup, below))) return true;
  return false;
}

bool carriesPrevious(const Setup& setup) {
  return isStack(setup) && looksBack(setup) && !carriedBelow(setup);
}

Result<LayerWeights> readLayerWeights(const Setup& setup, std::uint64_t budget) {
  if (setup.weights.file.empty())
    return Error{"No weights file is chosen: open a safetensors file, or use random weights."};
  Result<attention::AttentionProblem> layer =
      readLayerFile(setup.weights.file, layerOfFile(setup), setup.model.heads, budget);
  if (!layer) return layer.error();
  return LayerWeights{layer->config, std::move(layer->projections)};
}

attention::Status checkLayer(const Setup& setup, const attention::AttentionConfig& found) {
  const ModelSetup& model = setup.model;
  if (found.modelDim == model.modelDim && found.heads * found.headDim == model.heads * model.headDim &&
      found.kvHeads * found.headDim == model.kvHeads * model.headDim)
    return attention::success();
  return Error{fmt::format(
      "{} holds model dim {}, {} heads over {} of size {}, which the scene's model dim {}, {} "
      "heads over {} of size {} don't match. Loading the file in the window sets them.",
      attention::shownPath(std::filesystem::path(setup.weights.file).filename()), found.modelDim, found.heads,
      found.kvHeads, found.headDim, model.modelDim, model.heads, model.kvHeads, model.headDim)};
}

std::string plantedMisfit(const Setup& setup) {
  if (!usesPlantedEmbedding(setup)) return "";
  const Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
  if (!layout) return layout.error().message;
  for (Index layer = 0; layer < layerCount(setup); ++layer) {
    const attention::Status can =
        attention::canPlant(configOf(setup), *layout, plantedHeads(withLayer(setup, layer)));
    if (!can) return (isStack(setup) ? fmt::format("layer {}: ", layer) : "") + can.error().message;
  }
  return "";
}

Index narrowInduction(const Setup& setup) {
  if (!usesPlantedEmbedding(setup)) return 0;
  const Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
  if (!layout) return 0;
  const Index compared = attention::comparedByInduction(configOf(setup), *layout, plantedHeads(setup));
  return compared < attention::kEnoughCompared ? compared : 0;
}

Suits plantingSuits(const Setup& setup) {
  if (!usesPlantedEmbedding(setup)) return {};
  return [trial = setup](const ModelSetup& model) mutable {
    trial.model = model;
    return plantedMisfit(trial).empty();
  };
}

Index plantedReach(Index longest) {
  return std::max<Index>(longest, 64);
}

Result<Projections> buildProjections(const Setup& setup, Index longest) {
  const attention::AttentionConfig config = configOf(setup);
  if (setup.weights.source == WeightSource::file) {
    Result<LayerWeights> layer = readLayerWeights(setup, defaultLimits().memoryBytes);
    if (!layer) return layer.error();
    if (const attention::Status fits = checkLayer(setup, layer->config); !fits) return fits.error();
    return std::move(layer->projections);
  }
  if (setup.weights.source == WeightSource::planted) {
    Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
    if (!layout) return layout.error();
    return attention::plantHeads(config, *layout, plantedHeads(setup), setup.model.bias,
                                 plantedReach(longest), layerSeed(setup), carriesPrevious(setup));
  }
  const auto draw =
      setup.weights.init == WeightInit::normal ? attention::normalProjections : attention::scaledXavier;
  return draw(config, setup.model.bias, layerSeed(setup), setup.weights.gain);
}

}  // namespace headscope::app
