#include "app/compute/layer_file.h"

#include <algorithm>

#include "app/compute/memory_budget.h"
#include "app/scene/fields.h"
#include "attention/formats/layer_names.h"
#include "attention/formats/regular_file.h"

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

}  // namespace

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
  // attend takes any layer; a scene takes over these, and they have to be legal in one.
  struct Taken {
    const char *what, *field;
    double value;
  };
  for (const Taken& taken :
       {Taken{"number of heads", "model.heads", static_cast<double>(config.heads)},
        Taken{"head size", "model.head_dim", static_cast<double>(config.headDim)},
        Taken{"model dim", "model.model_dim", static_cast<double>(config.modelDim)},
        Taken{"soft-cap", "model.softcap", static_cast<double>(config.softcap.value_or(0))},
        Taken{"RoPE theta", "model.rope_theta", config.ropeTheta.value_or(1)}})
    if (const Field& field = fieldAt(taken.field); !allows(field, taken.value))
      return attention::Error{attention::shownPath(path.filename()) + ": the " + taken.what + " is " +
                              shortNumber(taken.value) + ", expected " + valuesText(field) + " in a scene"};
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
