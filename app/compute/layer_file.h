#pragma once

#include <filesystem>

#include "attention/formats/attention_file.h"
#include "attention/formats/tables.h"
#include "attention/masks/plain_rules.h"

namespace headscope::app {

/// A layer's weights from a safetensors file. Where its metadata says neither how many heads there are nor
/// how large they are, which shapes alone can't tell, it is read with `heads` heads. Weights that take more
/// than `budget` bytes are an error.
attention::Result<attention::AttentionProblem> readLayerFile(const std::filesystem::path& path,
                                                             attention::Index heads, std::uint64_t budget);

/// The layer sizes and masks a weights file asks the sliders to take.
struct LoadedWeights {
  attention::AttentionConfig config;
  attention::PlainRules rules;
  bool bias = false;
};
/// The same of a layer that the window can show.
attention::Result<LoadedWeights> readLoadedWeights(const std::filesystem::path& path, attention::Index heads);
/// A table of embeddings, tokens × dimensions, that the window can show.
attention::Result<attention::Table> readEmbeddings(const std::filesystem::path& path);

}  // namespace headscope::app
