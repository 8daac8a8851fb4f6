#include "app/compute/layer_file.h"

#include "app/scene/scene.h"

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
  const auto tooLarge = [&](const char* what, attention::Index found, attention::Index most) {
    return attention::Error{path.filename().string() + ": the " + what + " is " + std::to_string(found) +
                            ", the window shows at most " + std::to_string(most)};
  };
  if (config.heads > kMaxHeads) return tooLarge("number of heads", config.heads, kMaxHeads);
  if (config.headDim > kMaxHeadDim) return tooLarge("head size", config.headDim, kMaxHeadDim);
  if (config.modelDim > kMaxModelDim) return tooLarge("model dim", config.modelDim, kMaxModelDim);
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
