#pragma once

#include <filesystem>

#include "attention/formats/attention_file.h"

namespace headscope::app {

/// A layer's weights from a safetensors file. Where its metadata says neither how many heads there are nor
/// how large they are, which shapes alone can't tell, it is read with `heads` heads.
attention::Result<attention::AttentionProblem> readLayerFile(const std::filesystem::path& path,
                                                             attention::Index heads);

}  // namespace headscope::app
