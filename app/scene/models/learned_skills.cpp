#include "app/scene/models/learned_skills.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"
#include "attention/formats/json_tree.h"

namespace headscope::app {

using attention::Error;
using attention::Index;
using attention::Result;
using SkillJson = nlohmann::json;

namespace {

/// A count or an index. Throws std::out_of_range if it is too large or not a whole number.
Index countIn(const SkillJson& json) {
  constexpr std::uint64_t kMax = 1'000'000;
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > kMax)
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
                     {},
                     json.value("other", ""),
                     json.value("other_next", "")};
  if (json.contains("score"))
    skill.head = {{countIn(json.at("layer")), countIn(json.at("head")), json.at("score")}};
  return skill;
}

bool inWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::string> sortedWords(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

Result<Learned> readLearned(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "scores.json";
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  const auto bytes = attention::readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  return parseLearned({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                      attention::shownPath(path));
}

Result<Learned> parseLearned(std::string_view text, const std::string& name) {
  const auto scores = attention::parseJsonTree(text, name);
  if (!scores) return scores.error();
  try {
    Learned learned;
    for (const SkillJson& skill : scores->at("skills")) learned.skills.push_back(skillOf(skill));
    learned.words = sortedWords(scores->value("words", ""));
    return learned;
  } catch (const SkillJson::exception&) {
  } catch (const std::out_of_range&) {
  }
  return Error{name + ": is not a list of skills as assets/models/train.py writes it"};
}

std::vector<std::string> wordsOutside(const std::vector<std::string>& words, std::string_view typed) {
  // As the tokenizer does.
  std::string text(typed);
  constexpr std::string_view kCurled = "’";
  for (std::size_t at = 0; (at = text.find(kCurled, at)) != std::string::npos;)
    text.replace(at, kCurled.size(), "'");
  std::vector<std::string> outside;
  for (std::size_t at = 0; at < text.size() && !words.empty();) {
    std::size_t end = at;
    while (end < text.size() && (inWord(text[end]) || (text[end] == '\'' && end > at &&
                                                       end + 1 < text.size() && inWord(text[end + 1]))))
      ++end;
    const std::string word = text.substr(at, end - at);
    at = std::max(end, at + 1);
    if (!word.empty() && !std::binary_search(words.begin(), words.end(), word) &&
        std::find(outside.begin(), outside.end(), word) == outside.end())
      outside.push_back(word);
  }
  return outside;
}

}  // namespace headscope::app
