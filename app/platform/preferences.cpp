#include "app/platform/preferences.h"

#include <algorithm>
#include <filesystem>

#include "app/platform/configuration.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"

namespace headscope::app {

std::filesystem::path preferencesPath() {
  const std::filesystem::path folder = configurationFolder();
  return folder.empty() ? folder : folder / "preferences.json";
}

Preferences parsePreferences(std::string_view text) {
  Preferences preferences;
  const auto parsed = attention::parseJsonTree(text, "preferences.json");
  if (!parsed || !parsed->is_object()) return preferences;
  const nlohmann::json& json = *parsed;
  const auto flag = [&](const char* key, bool& to) {
    if (json.contains(key) && json[key].is_boolean()) to = json[key];
  };
  flag("light", preferences.light);
  flag("reduced_motion", preferences.reducedMotion);
  flag("lesson_offered", preferences.lessonOffered);
  if (json.contains("text_size") && json["text_size"].is_number())
    preferences.textSize = static_cast<float>(std::clamp(json["text_size"].get<double>(), 0.75, 2.0));
  return preferences;
}

std::string formatPreferences(const Preferences& preferences) {
  const nlohmann::json json{{"light", preferences.light},
                            {"text_size", preferences.textSize},
                            {"reduced_motion", preferences.reducedMotion},
                            {"lesson_offered", preferences.lessonOffered}};
  return json.dump(2) + "\n";
}

Preferences loadPreferences() {
  const auto path = preferencesPath();
  if (path.empty()) return {};
  const auto bytes = attention::readFile(path, 1 << 16);
  return bytes ? parsePreferences({reinterpret_cast<const char*>(bytes->data()), bytes->size()})
               : Preferences();
}

attention::Status writePreferences(const std::filesystem::path& path, const Preferences& preferences) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  return attention::writeFile(path, formatPreferences(preferences));
}

}  // namespace headscope::app
