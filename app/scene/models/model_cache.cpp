#include "app/scene/models/model_cache.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "attention/formats/files/file_io.h"

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
  if (const auto home = fromEnvironment("HOME")) return *home / ".cache" / "huggingface" / "hub";
  return {};
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

}  // namespace headscope::app
