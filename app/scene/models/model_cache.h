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

/// Where the Hugging Face hub keeps what it has downloaded: $HF_HUB_CACHE, else $HF_HOME/hub, else
/// huggingface/hub in $XDG_CACHE_HOME or ~/.cache.
std::filesystem::path hubCache();

/// The models in a hub's cache that have a config.json, by name: of each the revision that refs/main names,
/// else the newest. Reads folders alone; empty where there is no cache.
std::vector<CachedModel> cachedModels(const std::filesystem::path& hub = hubCache());

}  // namespace headscope::app
