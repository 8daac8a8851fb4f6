#include "app/scene/learned_skills.h"

#include <nlohmann/json.hpp>

#include "attention/formats/regular_file.h"

namespace headscope::app {

namespace {

using Json = nlohmann::json;

template <typename T>
std::optional<T> numberAt(const Json& row, const char* key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_number() ? std::optional(at->get<T>()) : std::nullopt;
}

std::string textAt(const Json& row, const char* key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

std::vector<LearnedSkill> readLearnedSkills(const std::filesystem::path& folder) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  const auto bytes = attention::readFile(folder / "scores.json", kMostBytes);
  if (!bytes) return {};
  const Json scores = Json::parse(bytes->begin(), bytes->end(), nullptr, false);
  if (!scores.is_object() || !scores.contains("skills") || !scores["skills"].is_array()) return {};
  std::vector<LearnedSkill> skills;
  for (const Json& row : scores["skills"]) {
    if (!row.is_object()) continue;
    LearnedSkill skill{textAt(row, "title"),
                       textAt(row, "text"),
                       numberAt<attention::Index>(row, "right"),
                       numberAt<attention::Index>(row, "of"),
                       numberAt<attention::Index>(row, "layer"),
                       numberAt<attention::Index>(row, "head"),
                       numberAt<float>(row, "score")};
    if (!skill.title.empty() && !skill.text.empty()) skills.push_back(std::move(skill));
  }
  return skills;
}

}  // namespace headscope::app
