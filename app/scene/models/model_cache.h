#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

/// A model that is already on this machine.
struct CachedModel {
  std::string name;              ///< "openai/gpt2"
  std::filesystem::path folder;  ///< or a GGUF file
};

/// Returns "openai/gpt2" for "models--openai--gpt2/snapshots/4f…" in a hub's cache, and the last part of any
/// other path; for GGUF files without the extension and the part number of a split.
std::string modelName(const std::filesystem::path& folder);

/// The Hugging Face hub's download folder: $HF_HUB_CACHE, else $HF_HOME/hub, else huggingface/hub in
/// $XDG_CACHE_HOME or ~/.cache.
std::filesystem::path hubCache();

/// The models with a config.json in a hub's cache, sorted by name: of each the revision that refs/main names,
/// else the newest. Doesn't open the models. Empty if there is no cache.
std::vector<CachedModel> cachedModels(const std::filesystem::path& hub = hubCache());

}  // namespace headscope::app
