#include "app/compute/layer/layer_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/compute/jobs/memory_budget.h"
#include "app/scene/fields.h"
#include "attention/core/score_terms.h"
#include "attention/formats/files/regular_file.h"
#include "attention/formats/layers/layer_names.h"

namespace headscope::app {

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

}  // namespace headscope::app
