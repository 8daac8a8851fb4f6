#include "app/scene/learned_skills.h"

#include <nlohmann/json.hpp>

#include "attention/formats/file_io.h"
#include "attention/formats/regular_file.h"

namespace headscope::app {

using attention::Error;
using attention::Index;
using attention::Result;
using SkillJson = nlohmann::json;

namespace {

LearnedSkill skillOf(const SkillJson& json) {
  LearnedSkill skill{json.at("name"),
                     json.at("title"),
                     json.at("text"),
                     json.value("next", ""),
                     json.value("right", Index{0}),
                     json.value("of", Index{0}),
                     {}};
  if (json.contains("score")) skill.head = {{json.at("layer"), json.at("head"), json.at("score")}};
  return skill;
}

}  // namespace

Result<std::vector<LearnedSkill>> readLearnedSkills(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "scores.json";
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  const auto bytes = attention::readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  try {
    std::vector<LearnedSkill> skills;
    const SkillJson scores = SkillJson::parse(bytes->begin(), bytes->end());
    for (const SkillJson& skill : scores.at("skills")) skills.push_back(skillOf(skill));
    return skills;
  } catch (const SkillJson::exception&) {
    return attention::fileError(path, "is not a list of skills as assets/models/train.py writes it");
  }
}

}  // namespace headscope::app
