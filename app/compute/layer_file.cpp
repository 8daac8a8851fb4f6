#include "app/compute/layer_file.h"

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

}  // namespace headscope::app
