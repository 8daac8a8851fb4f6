#include "app/scene/models/downloads.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

/// Calls `visit` for every regular file below a folder, `depth` levels deep. Doesn't follow links to folders.
void forFilesBelow(const fs::path& folder, int depth, const std::function<void(const fs::path&)>& visit) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored))
      visit(at->path());
    else if (depth > 0 && at->is_directory(ignored) && !at->is_symlink(ignored))
      forFilesBelow(at->path(), depth - 1, visit);
  }
}

void sortByName(std::vector<CachedModel>& models) {
  std::sort(models.begin(), models.end(),
            [](const CachedModel& a, const CachedModel& b) { return a.name < b.name; });
}

/// "sha256-6a07…" of the weights that a manifest names; "" if it names none that could be a file.
std::string blobOf(const fs::path& manifest) {
  constexpr std::uint64_t kMax = 1 << 20;
  const auto bytes = attention::readFile(manifest, kMax);
  if (!bytes) return "";
  const auto json =
      attention::parseJsonTree({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, "");
  if (!json || !json->is_object()) return "";
  const auto layers = json->find("layers");
  if (layers == json->end() || !layers->is_array()) return "";
  for (const auto& layer : *layers) {
    const auto text = [&](const char* key) {
      const bool there = layer.is_object() && layer.contains(key) && layer[key].is_string();
      return there ? layer[key].get<std::string>() : std::string();
    };
    std::string digest = text("digest");
    if (text("mediaType") != "application/vnd.ollama.image.model" || !digest.starts_with("sha256:")) continue;
    digest[6] = '-';
    if (digest.find_first_not_of("0123456789abcdef", 7) == std::string::npos) return digest;
  }
  return "";
}

/// "registry.ollama.ai/library/llama3.2/1b" becomes "llama3.2:1b".
std::string ollamaName(const fs::path& relative) {
  std::string name = relative.parent_path().string() + ":" + relative.filename().string();
  for (const std::string_view start : {"registry.ollama.ai/", "library/"})
    if (name.starts_with(start)) name.erase(0, start.size());
  return name;
}

std::optional<fs::path> home() {
  const char* value = std::getenv("HOME");
  return value && *value ? std::optional<fs::path>(value) : std::nullopt;
}

void append(std::vector<CachedModel>& models, std::vector<CachedModel> more) {
  std::move(more.begin(), more.end(), std::back_inserter(models));
}

}  // namespace

std::vector<CachedModel> ollamaModels(const fs::path& models) {
  constexpr int kDepth = 4;
  std::vector<CachedModel> found;
  const fs::path manifests = models / "manifests";
  forFilesBelow(manifests, kDepth, [&](const fs::path& manifest) {
    const std::string blob = blobOf(manifest);
    std::error_code ignored;
    if (blob.empty() || !fs::is_regular_file(models / "blobs" / blob, ignored)) return;
    found.push_back(
        {ollamaName(manifest.lexically_relative(manifests)), fs::absolute(models / "blobs" / blob, ignored)});
  });
  sortByName(found);
  return found;
}

std::vector<CachedModel> ggufModels(const fs::path& folder) {
  constexpr int kDepth = 4;
  std::vector<CachedModel> found;
  forFilesBelow(folder, kDepth, [&](const fs::path& file) {
    const std::string name = file.filename().string();
    const std::size_t part = name.rfind("-of-");
    const bool later = part != std::string::npos && part >= 6 && name.compare(part - 6, 6, "-00001") != 0 &&
                       name[part - 6] == '-';
    if (file.extension() != ".gguf" || later || name.starts_with("mmproj")) return;
    std::error_code ignored;
    found.push_back({modelName(file), fs::absolute(file, ignored)});
  });
  sortByName(found);
  return found;
}

std::vector<CachedModel> downloadedModels() {
  std::vector<CachedModel> models = cachedModels();
  const char* const said = std::getenv("OLLAMA_MODELS");
  if (said && *said) append(models, ollamaModels(said));
  const auto own = home();
  if (!own) return models;
  if (!said || !*said) append(models, ollamaModels(*own / ".ollama" / "models"));
  append(models, ggufModels(*own / ".lmstudio" / "models"));
  append(models, ggufModels(*own / ".cache" / "lm-studio" / "models"));
  return models;
}

std::string downloadedName(const fs::path& path) {
  if (path.parent_path().filename() == "blobs" && path.filename().string().starts_with("sha256-"))
    for (const CachedModel& model : ollamaModels(path.parent_path().parent_path()))
      if (model.folder.filename() == path.filename()) return model.name;
  return modelName(path);
}

}  // namespace headscope::app
