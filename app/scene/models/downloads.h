#pragma once

#include "app/scene/models/model_cache.h"

namespace headscope::app {

/// The models that Ollama has downloaded, such as "llama3.2:1b", each a GGUF file: those whose manifests, in
/// `models`/manifests, name an existing file in `models`/blobs. Models of other users and registries keep the
/// prefix of their names.
std::vector<CachedModel> ollamaModels(const std::filesystem::path& models);

/// All GGUF models in a folder with LM Studio's layout, publisher/model/FILE.gguf, by file name; split models
/// once. Leaves out the picture encoders next to a model (mmproj).
std::vector<CachedModel> ggufModels(const std::filesystem::path& folder);

/// The models that other programs have downloaded to this machine: the hub's, Ollama's ($OLLAMA_MODELS,
/// ~/.ollama/models) and LM Studio's (~/.lmstudio/models, ~/.cache/lm-studio/models), each sorted by name.
std::vector<CachedModel> downloadedModels();

/// modelName(); for a file of Ollama's, whose name is a hash, Ollama's name for it.
std::string downloadedName(const std::filesystem::path& path);

}  // namespace headscope::app
