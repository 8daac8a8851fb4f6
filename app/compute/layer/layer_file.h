#pragma once

#include <filesystem>

#include "attention/formats/layers/attention_file.h"
#include "attention/formats/tables.h"
#include "attention/masks/plain_rules.h"

namespace headscope::app {

/// Reads a layer's weights from a safetensors file or .npz. `layer` selects one layer of a whole model; −1 =
/// the file has only one. If the metadata gives neither the number nor the size of heads, which shapes alone
/// can't tell, assumes `heads` heads. Returns an Error if the weights take more than `budget` bytes.
attention::Result<attention::AttentionProblem> readLayerFile(const std::filesystem::path& path,
                                                             attention::Index layer, attention::Index heads,
                                                             std::uint64_t budget);

/// Returns an Error unless the file has the layers first … first+count−1, one for each of `count` synthetic
/// layers.
attention::Status checkFileLayers(const std::filesystem::path& path, attention::Index first,
                                  attention::Index count);

/// The layer sizes and masks that a weights file sets in the scene.
struct LoadedWeights {
  attention::AttentionConfig config;
  attention::PlainRules rules;
  bool bias = false;
  attention::Index layer = -1;  ///< for scene fields: the file's first layer; −1 = it has only one
  attention::Index layers = 1;  ///< number of layers in the file
};
/// Reads the LoadedWeights of the file's first layer. Returns an Error if a scene can't have such a layer.
attention::Result<LoadedWeights> readLoadedWeights(const std::filesystem::path& path, attention::Index heads);
/// Reads a table of embeddings, tokens × dimensions. Returns an Error if it is too large for the window.
attention::Result<attention::Table> readEmbeddings(const std::filesystem::path& path);

}  // namespace headscope::app
