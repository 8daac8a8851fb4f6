#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::app {

/// One thing that the miniature learned, as its scores.json counts it.
struct LearnedSkill {
  std::string name;   ///< in files: "got"
  std::string title;  ///< on screen: "Who got the key"
  std::string text;   ///< shows it; where there is a `next`, it ends before that word
  std::string next;   ///< the word that the model says next; empty where nothing is asked
  /// Held-out sentences whose next word it guesses, and of how many; 0 of 0 where nothing is asked.
  attention::Index right = 0, of = 0;
  /// The head that looks where the answer is, and its mean weight there.
  struct Head {
    attention::Index layer = 0, head = 0;
    double score = 0;
  };
  std::optional<Head> head;
};

/// What scores.json in a model's folder says; an error where it is missing or something else.
attention::Result<std::vector<LearnedSkill>> readLearnedSkills(const std::filesystem::path& folder);
/// The same from the file's text; `name` stands in front of errors.
attention::Result<std::vector<LearnedSkill>> parseLearnedSkills(std::string_view json,
                                                                const std::string& name);

}  // namespace headscope::app
