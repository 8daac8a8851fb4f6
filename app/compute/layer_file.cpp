#include "app/compute/layer_file.h"

#include "app/scene/fields.h"

namespace headscope::app {

attention::Result<attention::AttentionProblem> readLayerFile(const std::filesystem::path& path,
                                                             attention::Index heads) {
  attention::Result<attention::SafetensorsFile> file = attention::readSafetensors(path);
  if (!file) return file.error();
  attention::AttentionOptions options;
  if (!file->metadata.contains("heads") && !file->metadata.contains("head_dim"))
    options["heads"] = std::to_string(heads);
  return attention::readLayer(*file, options, path.filename().string());
}

attention::Result<LoadedWeights> readLoadedWeights(const std::filesystem::path& path,
                                                   attention::Index heads) {
  attention::Result<attention::AttentionProblem> layer = readLayerFile(path, heads);
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
      return attention::Error{path.filename().string() + ": the " + taken.what + " is " +
                              shortNumber(taken.value) + ", expected " + valuesText(field) + " in a scene"};
  return LoadedWeights{config, layer->rules, layer->projections.q.bias.size() > 0};
}

attention::Result<attention::Table> readEmbeddings(const std::filesystem::path& path) {
  attention::Result<attention::Table> table = attention::readTable(path);
  if (!table) return table;
  const std::string name = path.filename().string();
  if (table->values.rows() > kMaxTokens || table->values.cols() > kMaxModelDim)
    return attention::Error{
        name + ": the table is " + attention::shapeText(table->values.rows(), table->values.cols()) +
        ", expected at most " + attention::shapeText(kMaxTokens, kMaxModelDim) + " (tokens × dimensions)"};
  return table;
}

}  // namespace headscope::app
