#include "app/compute/layer/layer_inputs.h"

#include <fmt/core.h>

#include "app/scene/fields.h"
#include "attention/core/positions.h"
#include "attention/core/random.h"

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

using attention::Error;
using attention::Projections;

Index layerOfFile(const Setup& setup) {
  if (!isStack(setup)) return setup.weights.layer;
  return std::max<Index>(setup.weights.layer, 0) + shownLayer(setup);
}

std::uint64_t layerSeed(const Setup& setup) {
  const Index layer = shownLayer(setup);
  return layer == 0 ? setup.weights.seed
                    : attention::mixSeed(setup.weights.seed, static_cast<std::uint64_t>(layer));
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
  return Error{
      fmt::format("{} holds model dim {}, {} over {} of size {}, but the scene has model dim {}, {} over {} "
                  "of size {}. Load the file in the window to set them.",
                  attention::shownPath(std::filesystem::path(setup.weights.file).filename()), found.modelDim,
                  attention::counted(found.heads, "head"), found.kvHeads, found.headDim, model.modelDim,
                  attention::counted(model.heads, "head"), model.kvHeads, model.headDim)};
}

std::string plantedMisfit(const Setup& merged) {
  const Setup setup = beforeMerge(merged);
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

Index narrowInduction(const Setup& merged) {
  const Setup setup = beforeMerge(merged);
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
  if (mergesKvHeads(setup)) {
    Result<Projections> whole = buildProjections(beforeMerge(setup), longest);
    if (!whole) return whole;
    return mergedProjections(*whole, setup.model);
  }
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

using attention::Index;

namespace {

attention::Result<attention::AttentionProblem> readLayerOf(const attention::TensorSource& file,
                                                           const std::string& name, Index layer, Index heads,
                                                           std::uint64_t budget) {
  const auto& metadata = file.header().metadata;
  attention::AttentionOptions options;
  if (!metadata.contains("heads") && !metadata.contains("head_dim")) options["heads"] = std::to_string(heads);
  if (layer >= 0) options["layer"] = std::to_string(layer);
  return attention::readLayer(file, options, name, budget);
}

/// Returns "layer 3", "layers 0 and 1" or "layers 0 to 3".
std::string layersText(Index first, Index last) {
  return first == last       ? fmt::format("layer {}", first)
         : first + 1 == last ? fmt::format("layers {} and {}", first, last)
                             : fmt::format("layers {} to {}", first, last);
}

}  // namespace

attention::Status checkFileLayers(const std::filesystem::path& path, Index first, Index count) {
  const attention::Result<attention::TensorSource> file = attention::TensorSource::open(path);
  if (!file) return file.error();
  const std::vector<attention::LayerPlace> layers = attention::findLayers(file->header());
  if (layers.empty()) return attention::success();  // reading a layer reports this better
  const auto has = [&](Index number) {
    return std::ranges::any_of(layers, [&](const auto& layer) { return layer.number == number; });
  };
  Index missing = first;
  while (missing < first + count && has(missing)) ++missing;
  if (missing == first + count) return attention::success();
  const auto lowest = layers.front().number, highest = layers.back().number;
  return attention::Error{fmt::format(
      "The {} synthetic layers need {} of {}, which holds {}.", count, layersText(first, first + count - 1),
      attention::shownPath(path.filename()),
      !lowest || !highest                                           ? "one layer without a number"
      : *highest - *lowest + 1 == static_cast<Index>(layers.size()) ? layersText(*lowest, *highest)
                                                                    : fmt::format("no layer {}", missing))};
}

attention::Result<attention::AttentionProblem> readLayerFile(const std::filesystem::path& path, Index layer,
                                                             Index heads, std::uint64_t budget) {
  const attention::Result<attention::TensorSource> file = attention::TensorSource::open(path);
  if (!file) return file.error();
  return readLayerOf(*file, attention::shownPath(path.filename()), layer, heads, budget);
}

attention::Result<LoadedWeights> readLoadedWeights(const std::filesystem::path& path, Index heads) {
  const attention::Result<attention::TensorSource> file = attention::TensorSource::open(path);
  if (!file) return file.error();
  const std::vector<attention::LayerPlace> layers = attention::findLayers(file->header());
  LoadedWeights loaded;
  loaded.layers = std::max<Index>(1, static_cast<Index>(layers.size()));
  if (layers.size() > 1) loaded.layer = layers[0].number.value_or(-1);
  const attention::Result<attention::AttentionProblem> layer = readLayerOf(
      *file, attention::shownPath(path.filename()), loaded.layer, heads, defaultLimits().memoryBytes);
  if (!layer) return layer.error();
  const attention::AttentionConfig& config = layer->config;
  // attend takes any layer, but a scene adopts these values and must allow them.
  struct Taken {
    std::string_view what;
    std::string field;
    double value;
  };
  std::vector<Taken> all{{"number of heads", "model.heads", static_cast<double>(config.heads)},
                         {"head size", "model.head_dim", static_cast<double>(config.headDim)},
                         {"model dim", "model.model_dim", static_cast<double>(config.modelDim)},
                         {"RoPE theta", "model.rope_theta", config.ropeTheta.value_or(1)}};
  for (const attention::ScoreTerm& term : attention::scoreTerms())
    if (term.isOption())
      all.push_back({term.name, std::string("model.") + term.number.name,
                     static_cast<double>(config.*term.number.member)});
  for (const Taken& taken : all)
    if (const Field& field = fieldAt(taken.field); !allows(field, taken.value))
      return attention::Error{fmt::format("{}: the {} is {}, expected {} in a scene",
                                          attention::shownPath(path.filename()), taken.what,
                                          shortNumber(taken.value), valuesText(field))};
  loaded.config = config;
  loaded.rules = layer->rules;
  loaded.bias = layer->projections.q.bias.size() > 0;
  return loaded;
}

attention::Result<attention::Table> readEmbeddings(const std::filesystem::path& path) {
  attention::Result<attention::Table> table = attention::readTable(path);
  if (!table) return table;
  const std::string name = attention::shownPath(path.filename());
  if (table->values.rows() > kMaxTokens || table->values.cols() > kMaxModelDim)
    return attention::Error{
        name + ": the table is " + attention::shapeText(table->values.rows(), table->values.cols()) +
        ", expected at most " + attention::shapeText(kMaxTokens, kMaxModelDim) + " (tokens × dimensions)"};
  return table;
}

using attention::AttentionConfig;

namespace {
AttentionConfig modelConfigOf(const OpenModel& opened, Index layer) {
  return opened.model ? opened.model->attention(layer) : opened.config().attention(layer);
}

AttentionConfig syntheticConfigOf(const ModelSetup& model) {
  AttentionConfig config;
  config.modelDim = model.modelDim;
  config.heads = model.heads;
  config.kvHeads = model.kvHeads;
  config.headDim = model.headDim;
  config.scale = model.scaled ? 1 / std::sqrt(static_cast<float>(model.headDim)) : 1.0f;
  if (model.position == PositionKind::rope) config.ropeTheta = model.ropeTheta;
  return config;
}
}  // namespace

attention::ScoreSettings scoreSettings(const Setup& setup) {
  const ModelSetup& model = setup.model;
  attention::ScoreSettings settings;
  attention::joinNumbers(model, settings);
  settings.alibi = model.position == PositionKind::alibi;
  if (model.position == PositionKind::t5)
    settings.t5 =
        attention::BucketBias{model.t5Buckets, model.t5Distance, false, model.t5Strength, setup.weights.seed};
  if (model.dropout > 0) settings.dropout = {model.dropout, setup.weights.seed, 0};
  return settings;
}

AttentionConfig configOf(const Setup& setup) {
  const SubjectSetup& subject = setup.subject;
  AttentionConfig config =
      subject.opened ? modelConfigOf(*subject.opened, subject.layer) : syntheticConfigOf(setup.model);
  attention::joinSettings(scoreSettings(setup), config);
  return config;
}

attention::HeadSwitch headSwitch(const SubjectSetup& subject, Index layer, Index heads) {
  attention::HeadSwitch how;
  for (const SwitchedHead& off : subject.switchedOff) {
    if (off.layer != layer || off.head < 0 || off.head >= heads) continue;
    if (how.scale.empty()) how.scale.assign(static_cast<std::size_t>(heads), 1.0f);
    if (off.by == HeadOff::zero) how.scale[static_cast<std::size_t>(off.head)] = 0;
    if (off.by == HeadOff::mean) how.mean.push_back(off.head);
  }
  return how;
}

void switchHead(SubjectSetup& subject, const SwitchedHead& head, bool off) {
  std::erase_if(subject.switchedOff,
                [&](const SwitchedHead& one) { return one.layer == head.layer && one.head == head.head; });
  if (off) subject.switchedOff.push_back(head);
}

const SwitchedHead* switchedOff(const SubjectSetup& subject, Index layer, Index head) {
  const auto found =
      std::find_if(subject.switchedOff.begin(), subject.switchedOff.end(),
                   [&](const SwitchedHead& one) { return one.layer == layer && one.head == head; });
  return found == subject.switchedOff.end() ? nullptr : &*found;
}

HeadOff standIn(const SubjectSetup& subject, Index layer, HeadOff chosen) {
  const SwitchedHead* first = nullptr;
  for (const SwitchedHead& off : subject.switchedOff) {
    if (off.layer != layer) continue;
    if (off.by == chosen) return chosen;
    if (!first) first = &off;
  }
  return first ? first->by : chosen;
}

}  // namespace headscope::app
