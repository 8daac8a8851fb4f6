#pragma once

#include "app/scene/models/model_cache.h"

namespace headscope::app {

/// Models that Ollama has downloaded, "llama3.2:1b", each a GGUF file: those whose manifests, in
/// `models`/manifests, name a file in `models`/blobs that is there. Models of other people and places keep
/// what comes before their names.
std::vector<CachedModel> ollamaModels(const std::filesystem::path& models);

/// Every GGUF model in a folder as LM Studio lays it out, publisher/model/FILE.gguf, by its file's name; a
/// split one once. Files that look at pictures beside a model (mmproj) are left out.
std::vector<CachedModel> ggufModels(const std::filesystem::path& folder);

/// What other programs have downloaded to this machine: the hub's, Ollama's ($OLLAMA_MODELS,
/// ~/.ollama/models) and LM Studio's (~/.lmstudio/models, ~/.cache/lm-studio/models), each in the order of
/// names.
std::vector<CachedModel> downloadedModels();

/// modelName(), and of a file of Ollama's, which has a number for a name, what Ollama calls it.
std::string downloadedName(const std::filesystem::path& path);

}  // namespace headscope::app
