#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

/// A model that is on this machine already.
struct CachedModel {
  std::string name;              ///< "openai/gpt2"
  std::filesystem::path folder;  ///< or a GGUF file
};

/// "models--openai--gpt2/snapshots/4f…" of a hub's cache is "openai/gpt2"; other folders and files are their
/// last part, GGUF's without the ending and the part of a split.
std::string modelName(const std::filesystem::path& folder);

/// Where the Hugging Face hub keeps what it has downloaded: $HF_HUB_CACHE, else $HF_HOME/hub, else
/// huggingface/hub in $XDG_CACHE_HOME or ~/.cache.
std::filesystem::path hubCache();

/// The models in a hub's cache that have a config.json, by name: of each the revision that refs/main names,
/// else the newest. Reads folders alone; empty where there is no cache.
std::vector<CachedModel> cachedModels(const std::filesystem::path& hub = hubCache());

}  // namespace headscope::app
