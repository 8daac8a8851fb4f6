#include "app/platform/recent_models.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/platform/configuration.h"
#include "attention/formats/file_io.h"

namespace headscope::app {

namespace {

std::filesystem::path listPath() {
  const std::filesystem::path folder = configurationFolder();
  return folder.empty() ? folder : folder / "recent_models.json";
}

}  // namespace

std::vector<std::string> loadRecentModels() {
  std::vector<std::string> models;
  const auto path = listPath();
  if (path.empty()) return models;
  const auto bytes = attention::readFile(path, 1 << 16);
  if (!bytes) return models;
  const nlohmann::json json = nlohmann::json::parse(bytes->begin(), bytes->end(), nullptr, false);
  if (!json.is_array()) return models;
  for (const auto& model : json)
    if (model.is_string() && models.size() < kRecentModels) models.push_back(model);
  return models;
}

void saveRecentModels(const std::vector<std::string>& models) {
  const auto path = listPath();
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  constexpr auto kBadBytes = nlohmann::json::error_handler_t::replace;  // of names that are no UTF-8
  (void)attention::writeFile(path, nlohmann::json(models).dump(2, ' ', false, kBadBytes) + "\n");
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

}  // namespace headscope::app
