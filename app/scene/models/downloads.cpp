#include <cstdlib>
#include <sstream>

#include "app/platform/folders.h"
#include "app/scene/models/open_model.h"
#include "attention/formats/json_tree.h"

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

std::optional<fs::path> fromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? std::optional<fs::path>(value) : std::nullopt;
}

bool hasConfig(const fs::path& snapshot) {
  std::error_code ignored;
  return fs::exists(snapshot / "config.json", ignored);  // follows the hub's links
}

/// The revision that refs/main names; "" if it names none that could be a folder.
std::string mainRevision(const fs::path& model) {
  constexpr std::uint64_t kMax = 4096;
  const auto bytes = attention::readFile(model / "refs" / "main", kMax);
  if (!bytes) return "";
  std::istringstream text(std::string(bytes->begin(), bytes->end()));
  std::string revision;
  text >> revision;
  const bool plain = revision != "." && revision != ".." &&
                     revision.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  return plain ? revision : "";
}

/// The folder of a model's revision; nothing if there is none.
std::optional<fs::path> snapshotOf(const fs::path& model) {
  const fs::path snapshots = model / "snapshots";
  const std::string revision = mainRevision(model);
  if (!revision.empty() && hasConfig(snapshots / revision)) return snapshots / revision;
  std::optional<fs::path> newest;
  fs::file_time_type newestTime;
  std::error_code error;
  for (fs::directory_iterator at(snapshots, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const fs::file_time_type time = at->last_write_time(ignored);
    if (ignored || !hasConfig(at->path()) || (newest && time <= newestTime)) continue;
    newest = at->path();
    newestTime = time;
  }
  return newest;
}

}  // namespace

std::string modelName(const fs::path& folder) {
  constexpr std::string_view kHub = "models--";
  fs::path clean = folder.lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  if (clean.extension() == ".gguf") {
    std::string file = clean.stem().string();
    constexpr std::size_t kPart = std::string_view("-00001-of-00002").size();
    if (file.size() > kPart && file.compare(file.size() - kPart, 1, "-") == 0 &&
        file.compare(file.size() - 9, 4, "-of-") == 0)
      file.resize(file.size() - kPart);
    return file;
  }
  const fs::path snapshots = clean.parent_path();
  std::string hub = snapshots.parent_path().filename().string();
  if (snapshots.filename() != "snapshots" || !hub.starts_with(kHub)) return clean.filename().string();
  hub.erase(0, kHub.size());
  if (const auto slash = hub.find("--"); slash != std::string::npos) hub.replace(slash, 2, "/");
  return hub;
}

fs::path hubCache() {
  if (const auto hub = fromEnvironment("HF_HUB_CACHE")) return *hub;
  if (const auto home = fromEnvironment("HF_HOME")) return *home / "hub";
  if (const auto cache = fromEnvironment("XDG_CACHE_HOME")) return *cache / "huggingface" / "hub";
  const fs::path home = homeFolder();
  return home.empty() ? home : home / ".cache" / "huggingface" / "hub";
}

std::vector<CachedModel> cachedModels(const fs::path& hub) {
  std::vector<CachedModel> models;
  std::error_code error;
  for (fs::directory_iterator at(hub, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with("models--")) continue;
    if (const auto snapshot = snapshotOf(at->path()))
      models.push_back({modelName(*snapshot), fs::absolute(*snapshot, error)});
  }
  std::sort(models.begin(), models.end(),
            [](const CachedModel& a, const CachedModel& b) { return a.name < b.name; });
  return models;
}

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
  std::string name = relative.parent_path().generic_string() + ":" + relative.filename().string();
  for (const std::string_view start : {"registry.ollama.ai/", "library/"})
    if (name.starts_with(start)) name.erase(0, start.size());
  return name;
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
  const fs::path own = homeFolder();
  if (own.empty()) return models;
  if (!said || !*said) append(models, ollamaModels(own / ".ollama" / "models"));
  append(models, ggufModels(own / ".lmstudio" / "models"));
  append(models, ggufModels(own / ".cache" / "lm-studio" / "models"));
  return models;
}

std::string downloadedName(const fs::path& path) {
  if (path.parent_path().filename() == "blobs" && path.filename().string().starts_with("sha256-"))
    for (const CachedModel& model : ollamaModels(path.parent_path().parent_path()))
      if (model.folder.filename() == path.filename()) return model.name;
  return modelName(path);
}

}  // namespace headscope::app
