#include "app/scene/learned_skills.h"

#include <stdexcept>

#include "attention/formats/file_io.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/regular_file.h"

namespace headscope::app {

using attention::Error;
using attention::Index;
using attention::Result;
using SkillJson = nlohmann::json;

namespace {

/// How many, or which of them. Throws std::out_of_range for what counts nothing that a model has.
Index countIn(const SkillJson& json) {
  constexpr std::uint64_t kMost = 1'000'000;
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > kMost)
    throw std::out_of_range("expected a whole number");
  return json.get<Index>();
}

LearnedSkill skillOf(const SkillJson& json) {
  LearnedSkill skill{json.at("name"),
                     json.at("title"),
                     json.at("text"),
                     json.value("next", ""),
                     json.contains("right") ? countIn(json["right"]) : 0,
                     json.contains("of") ? countIn(json["of"]) : 0,
                     {}};
  if (json.contains("score"))
    skill.head = {{countIn(json.at("layer")), countIn(json.at("head")), json.at("score")}};
  return skill;
}

}  // namespace

Result<std::vector<LearnedSkill>> readLearnedSkills(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "scores.json";
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  const auto bytes = attention::readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  return parseLearnedSkills({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                            attention::shownPath(path));
}

Result<std::vector<LearnedSkill>> parseLearnedSkills(std::string_view text, const std::string& name) {
  const auto scores = attention::parseJsonTree(text, name);
  if (!scores) return scores.error();
  try {
    std::vector<LearnedSkill> skills;
    for (const SkillJson& skill : scores->at("skills")) skills.push_back(skillOf(skill));
    return skills;
  } catch (const SkillJson::exception&) {
  } catch (const std::out_of_range&) {
  }
  return Error{name + ": is not a list of skills as assets/models/train.py writes it"};
}

}  // namespace headscope::app
