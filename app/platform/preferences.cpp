#include "app/platform/preferences.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "app/platform/window.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/merged_file.h"

namespace headscope::app {

std::filesystem::path preferencesPath() {
  const std::filesystem::path folder = configurationFolder();
  return folder.empty() ? folder : folder / "preferences.json";
}

std::span<const PreferenceRow> preferenceRows() {
  static constexpr std::array kSizes{0.8f, 0.9f, 1.0f, 1.125f, 1.25f, 1.375f, 1.5f, 1.75f, 2.0f, 2.25f, 2.5f};
  static constexpr ListSetting::Choice kNumbers[] = {
      {"system", "Match system"}, {"point", "1,234.5"}, {"comma", "1.234,5"}, {"space", "1 234,5"}};
  static const std::array<PreferenceRow, 8> kRows{{
      {"light",
       "appearance.theme",
       "Theme",
       "Dark for screens, light for bright rooms and print.",
       "Switch between dark and light",
       "dark mode, light mode, night theme, colours settings preferences options",
       {Key::l, {.ctrl = true}},
       ChoiceSetting{&Preferences::light, "Dark", "Light"}},
      {"text_size",
       "appearance",
       "Text size",
       "Scales everything with its text, from 80 to 250 %.",
       "Make text",
       "font size zoom settings preferences options",
       {},
       FactorSetting{&Preferences::textSize, kSizes}},
      {"numbers",
       "appearance.numbers",
       "Numbers",
       "Sets how numbers on screen and in pictures are written. Files, commands and code keep the point.",
       "Write numbers",
       "decimal comma point thousands separator language locale settings preferences options",
       {},
       ListSetting{&Preferences::numbers, kNumbers}},
      {"high_contrast",
       "appearance.contrast",
       "High contrast",
       "Gives all text a contrast of at least 7:1, as presenting always does.",
       "High contrast: on or off",
       "accessibility contrast colours projector settings preferences options",
       {},
       SwitchSetting{&Preferences::highContrast}},
      {"reduced_motion",
       "appearance.motion",
       "Reduce motion",
       "Changes values and pictures at once, without easing.",
       "Reduce motion",
       "less motion, accessibility animation settings preferences options",
       {},
       SwitchSetting{&Preferences::reducedMotion}},
      {"captions",
       "appearance.captions",
       "Sentence while presenting",
       "Shows a sentence below the page that describes it.",
       "Sentence while presenting: on or off",
       "caption subtitle presentation settings preferences options",
       {},
       SwitchSetting{&Preferences::captions}},
      {"pressed_keys",
       "appearance.keys",
       "Keys while presenting",
       "Shows for a second what a key did.",
       "Keys while presenting: on or off",
       "show pressed keys presentation settings preferences options",
       {},
       SwitchSetting{&Preferences::pressedKeys}},
      {"diagnostics",
       "appearance.diagnostics",
       "Diagnostics in the status line",
       "Shows times, memory and undo steps in place of what the mouse does.",
       "Diagnostics in the status line: on or off",
       "telemetry timing compute frame memory textures developer settings preferences options",
       {},
       SwitchSetting{&Preferences::diagnostics}},
  }};
  return kRows;
}

float nextStep(const FactorSetting& setting, float value, int by) {
  const auto& steps = setting.steps;
  constexpr float kSame = 1e-3f;
  if (by > 0) {
    const auto next =
        std::find_if(steps.begin(), steps.end(), [&](float step) { return step > value + kSame; });
    return next == steps.end() ? steps.back() : *next;
  }
  const auto before =
      std::find_if(steps.rbegin(), steps.rend(), [&](float step) { return step < value - kSame; });
  return before == steps.rend() ? steps.front() : *before;
}

std::string preferencesMarkdown() {
  std::string table = "| setting | values | what it does |\n|---|---|---|\n";
  for (const PreferenceRow& row : preferenceRows()) {
    std::string values = "on or off";
    if (const auto* choice = std::get_if<ChoiceSetting>(&row.kind))
      values = fmt::format("{} or {}", choice->off, choice->on);
    if (const auto* factor = std::get_if<FactorSetting>(&row.kind))
      values = fmt::format("{:g} to {:g} %", 100 * factor->steps.front(), 100 * factor->steps.back());
    if (const auto* list = std::get_if<ListSetting>(&row.kind)) {
      values.clear();
      for (const ListSetting::Choice& choice : list->choices)
        values += (values.empty()                     ? ""
                   : &choice == &list->choices.back() ? " or "
                                                      : ", ") +
                  std::string(choice.label);
    }
    table += fmt::format("| {} | {} | {} |\n", row.label, values, row.help);
  }
  return table;
}

namespace {

LastWindow parseLast(const nlohmann::json& json) {
  LastWindow last;
  if (!json.is_object()) return last;
  // A size that no window can have counts as unknown.
  const auto number = [&](const char* key, int least, int most, int& to) {
    if (!json.contains(key) || !json[key].is_number_integer()) return;
    const auto value = json[key].get<std::int64_t>();
    if (value >= least && value <= most) to = static_cast<int>(value);
  };
  const auto text = [&](const char* key, std::string& to) {
    if (json.contains(key) && json[key].is_string()) to = json[key];
  };
  number("width", kLeastWindow.width, kLargestWindow.width, last.width);
  number("height", kLeastWindow.height, kLargestWindow.height, last.height);
  text("page", last.page);
  text("colormap", last.colormap);
  if (json.contains("panel") && json["panel"].is_boolean()) last.panel = json["panel"];
  return last;
}

/// Returns the member of an on/off or two-way setting; null for other kinds.
bool Preferences::*switchOf(const PreferenceRow& row) {
  if (const auto* on = std::get_if<SwitchSetting>(&row.kind)) return on->value;
  if (const auto* choice = std::get_if<ChoiceSetting>(&row.kind)) return choice->value;
  return nullptr;
}

}  // namespace

Preferences parsePreferences(std::string_view text) {
  Preferences preferences;
  const auto parsed = attention::parseJsonTree(text, "preferences.json");
  if (!parsed || !parsed->is_object()) return preferences;
  const nlohmann::json& json = *parsed;
  for (const PreferenceRow& row : preferenceRows()) {
    if (!json.contains(row.key)) continue;
    const nlohmann::json& value = json[row.key];
    if (const auto* list = std::get_if<ListSetting>(&row.kind))
      for (std::size_t i = 0; i < list->choices.size(); ++i)
        if (value == list->choices[i].key) preferences.*list->value = static_cast<std::uint8_t>(i);
    if (bool Preferences::*on = switchOf(row); on && value.is_boolean()) preferences.*on = value;
    if (const auto* factor = std::get_if<FactorSetting>(&row.kind); factor && value.is_number())
      preferences.*factor->value =
          static_cast<float>(std::clamp(value.get<double>(), static_cast<double>(factor->steps.front()),
                                        static_cast<double>(factor->steps.back())));
  }
  if (json.contains("lesson_offered") && json["lesson_offered"].is_boolean())
    preferences.lessonOffered = json["lesson_offered"];
  if (json.contains("last_window")) preferences.last = parseLast(json["last_window"]);
  return preferences;
}

std::string formatPreferences(const Preferences& preferences) {
  nlohmann::json json;
  for (const PreferenceRow& row : preferenceRows()) {
    if (bool Preferences::*on = switchOf(row)) json[row.key] = preferences.*on;
    if (const auto* factor = std::get_if<FactorSetting>(&row.kind))
      json[row.key] = preferences.*factor->value;
    if (const auto* list = std::get_if<ListSetting>(&row.kind))
      json[row.key] = list->choices[preferences.*list->value].key;
  }
  json["lesson_offered"] = preferences.lessonOffered;
  const LastWindow& last = preferences.last;
  json["last_window"] = {{"width", last.width},
                         {"height", last.height},
                         {"page", last.page},
                         {"colormap", last.colormap},
                         {"panel", last.panel}};
  constexpr auto kBadBytes = nlohmann::json::error_handler_t::replace;
  return json.dump(2, ' ', false, kBadBytes) + "\n";
}

Preferences loadPreferences() {
  const auto path = preferencesPath();
  if (path.empty()) return {};
  const auto bytes = attention::readFile(path, 1 << 16);
  return bytes ? parsePreferences({reinterpret_cast<const char*>(bytes->data()), bytes->size()})
               : Preferences();
}

namespace {

constexpr std::array<const char*, 3> kKeys{"scene", "talk", "model"}, kWords{"Scene", "Talk", "Model"};

std::filesystem::path listPath() {
  const std::filesystem::path folder = configurationFolder();
  return folder.empty() ? folder : folder / "recent.json";
}

std::size_t countOf(const std::vector<RecentFile>& files, RecentKind kind) {
  return static_cast<std::size_t>(std::ranges::count(files, kind, &RecentFile::kind));
}

}  // namespace

std::string recentWord(RecentKind kind) {
  return kWords.at(static_cast<std::size_t>(kind));
}

std::vector<RecentFile> parseRecent(std::string_view text) {
  std::vector<RecentFile> files;
  const auto json = attention::parseJsonTree(text, "recent.json");
  if (!json || !json->is_array()) return files;
  for (const auto& entry : *json) {
    if (!entry.is_object() || entry.size() != 1 || !entry.begin().value().is_string()) continue;
    const auto key = std::ranges::find(kKeys, entry.begin().key());
    if (key == kKeys.end()) continue;
    const auto kind = static_cast<RecentKind>(key - kKeys.begin());
    if (countOf(files, kind) < kRecentOfAKind) files.push_back({kind, entry.begin().value()});
  }
  return files;
}

std::string formatRecent(const std::vector<RecentFile>& files) {
  nlohmann::json json = nlohmann::json::array();
  for (const RecentFile& file : files)
    json.push_back({{kKeys.at(static_cast<std::size_t>(file.kind)), file.path}});
  constexpr auto kBadBytes = nlohmann::json::error_handler_t::replace;  // for names that are not UTF-8
  return json.dump(2, ' ', false, kBadBytes) + "\n";
}

std::vector<RecentFile> loadRecent() {
  const auto path = listPath();
  if (path.empty()) return {};
  const auto bytes = attention::readFile(path, 1 << 16);
  return bytes ? parseRecent({reinterpret_cast<const char*>(bytes->data()), bytes->size()})
               : std::vector<RecentFile>();
}

std::vector<std::string> loadRecent(RecentKind kind) {
  std::vector<std::string> paths;
  for (RecentFile& file : loadRecent())
    if (file.kind == kind) paths.push_back(std::move(file.path));
  return paths;
}

void saveRecent(const std::vector<RecentFile>& files) {
  const auto path = listPath();
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  (void)attention::writeFile(path, formatRecent(files));
}

namespace {

/// Changes the list on disk, as it is at that moment.
template <typename Change>
void changeRecent(const Change& change) {
  const auto path = listPath();
  if (path.empty()) return;
  const attention::ChangeLock lock(path);
  std::vector<RecentFile> files = loadRecent();
  change(files);
  saveRecent(parseRecent(formatRecent(files)));  // drops the oldest beyond the limit per kind
}

}  // namespace

void rememberRecent(const RecentFile& file) {
  changeRecent([&](std::vector<RecentFile>& files) {
    std::erase_if(files, [&](const RecentFile& other) { return other.path == file.path; });
    files.insert(files.begin(), file);
  });
}

void forgetRecent(const std::string& path) {
  changeRecent([&](std::vector<RecentFile>& files) {
    std::erase_if(files, [&](const RecentFile& file) { return file.path == path; });
  });
}

}  // namespace headscope::app
