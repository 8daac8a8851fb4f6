#include "app/platform/recent_files.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/platform/configuration.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"

namespace headscope::app {

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

void rememberRecent(const RecentFile& file) {
  std::vector<RecentFile> files = loadRecent();
  std::erase_if(files, [&](const RecentFile& other) { return other.path == file.path; });
  files.insert(files.begin(), file);
  saveRecent(parseRecent(formatRecent(files)));  // drops the oldest beyond the limit per kind
}

void forgetRecent(const std::string& path) {
  std::vector<RecentFile> files = loadRecent();
  std::erase_if(files, [&](const RecentFile& file) { return file.path == path; });
  saveRecent(files);
}

}  // namespace headscope::app
