#pragma once

#include <filesystem>

#include "attention/formats/layers/attention_file.h"
#include "attention/formats/tables.h"
#include "attention/masks/plain_rules.h"

namespace headscope::app {

/// A layer's weights from a safetensors file or .npz: of a whole model's the one of number `layer`, −1 where
/// there is only one. Where its metadata says neither how many heads there are nor how large they are, which
/// shapes alone can't tell, it is read with `heads` heads. Weights that take more than `budget` bytes are an
/// error.
attention::Result<attention::AttentionProblem> readLayerFile(const std::filesystem::path& path,
                                                             attention::Index layer, attention::Index heads,
                                                             std::uint64_t budget);

/// Whether a file has the layers first … first+count−1, which as many layers made here read.
attention::Status checkFileLayers(const std::filesystem::path& path, attention::Index first,
                                  attention::Index count);

/// The layer sizes and masks a weights file asks the sliders to take.
struct LoadedWeights {
  attention::AttentionConfig config;
  attention::PlainRules rules;
  bool bias = false;
  attention::Index layer =
      -1;  ///< for scene fields: the first of the file's layers, −1 where there is only one
  attention::Index layers = 1;  ///< how many the file has
};
/// The same of a layer that the window can show: the file's first.
attention::Result<LoadedWeights> readLoadedWeights(const std::filesystem::path& path, attention::Index heads);
/// A table of embeddings, tokens × dimensions, that the window can show.
attention::Result<attention::Table> readEmbeddings(const std::filesystem::path& path);

}  // namespace headscope::app
