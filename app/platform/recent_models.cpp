#include "app/platform/recent_models.h"

#include <filesystem>

#include "app/platform/configuration.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"

namespace headscope::app {

namespace {

constexpr const char* kModels = "recent_models.json";
constexpr const char* kScenes = "recent_scenes.json";

std::filesystem::path listPath(const char* name) {
  const std::filesystem::path folder = configurationFolder();
  return folder.empty() ? folder : folder / name;
}

std::vector<std::string> loadList(const char* name) {
  const auto path = listPath(name);
  if (path.empty()) return {};
  const auto bytes = attention::readFile(path, 1 << 16);
  return bytes ? parseRecentModels({reinterpret_cast<const char*>(bytes->data()), bytes->size()})
               : std::vector<std::string>();
}

void saveList(const char* name, const std::vector<std::string>& list) {
  const auto path = listPath(name);
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  (void)attention::writeFile(path, formatRecentModels(list));
}

}  // namespace

std::vector<std::string> parseRecentModels(std::string_view text) {
  std::vector<std::string> models;
  const auto json = attention::parseJsonTree(text, "recent_models.json");
  if (!json || !json->is_array()) return models;
  for (const auto& model : *json)
    if (model.is_string() && models.size() < kRecentModels) models.push_back(model);
  return models;
}

std::string formatRecentModels(const std::vector<std::string>& models) {
  constexpr auto kBadBytes = nlohmann::json::error_handler_t::replace;  // of names that are no UTF-8
  return nlohmann::json(models).dump(2, ' ', false, kBadBytes) + "\n";
}

std::vector<std::string> loadRecentModels() {
  return loadList(kModels);
}

void saveRecentModels(const std::vector<std::string>& models) {
  saveList(kModels, models);
}

std::vector<std::string> withRecentModel(std::vector<std::string> models, const std::string& path) {
  std::erase(models, path);
  models.insert(models.begin(), path);
  if (models.size() > kRecentModels) models.resize(kRecentModels);
  return models;
}

void rememberModel(const std::string& path) {
  saveRecentModels(withRecentModel(loadRecentModels(), path));
}

std::vector<std::string> loadRecentScenes() {
  return loadList(kScenes);
}

void rememberScene(const std::string& path) {
  saveList(kScenes, withRecentModel(loadRecentScenes(), path));
}

}  // namespace headscope::app
