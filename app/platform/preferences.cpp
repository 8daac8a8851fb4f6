#include "app/platform/preferences.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/platform/configuration.h"
#include "attention/formats/file_io.h"

namespace headscope::app {

namespace {

std::filesystem::path preferencesPath() {
  const std::filesystem::path folder = configurationFolder();
  return folder.empty() ? folder : folder / "preferences.json";
}

}  // namespace

Preferences loadPreferences() {
  Preferences preferences;
  const auto path = preferencesPath();
  if (path.empty()) return preferences;
  const auto bytes = attention::readFile(path, 1 << 16);
  if (!bytes) return preferences;
  const nlohmann::json json = nlohmann::json::parse(bytes->begin(), bytes->end(), nullptr, false);
  if (!json.is_object()) return preferences;
  const auto flag = [&](const char* key, bool& to) {
    if (json.contains(key) && json[key].is_boolean()) to = json[key];
  };
  flag("light", preferences.light);
  flag("reduced_motion", preferences.reducedMotion);
  flag("lesson_offered", preferences.lessonOffered);
  if (json.contains("text_size") && json["text_size"].is_number())
    preferences.textSize = std::clamp(json["text_size"].get<float>(), 0.75f, 2.0f);
  return preferences;
}

void savePreferences(const Preferences& preferences) {
  const auto path = preferencesPath();
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  const nlohmann::json json{{"light", preferences.light},
                            {"text_size", preferences.textSize},
                            {"reduced_motion", preferences.reducedMotion},
                            {"lesson_offered", preferences.lessonOffered}};
  // A preference that can't be kept is not worth a message in the middle of a lecture.
  (void)attention::writeFile(path, json.dump(2) + "\n");
}

}  // namespace headscope::app
