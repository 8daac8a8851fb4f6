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
  /// A text beside it after which the model says another word, `otherNext`; empty where there is none.
  std::string other = {}, otherNext = {};
};

/// What the miniature learned, and the words that it has as one token each, sorted: it reads others in
/// pieces.
struct Learned {
  std::vector<LearnedSkill> skills;
  std::vector<std::string> words;
};

/// What scores.json in a model's folder says; an error where it is missing or something else.
attention::Result<Learned> readLearned(const std::filesystem::path& folder);
/// The same from the file's text; `name` stands in front of errors.
attention::Result<Learned> parseLearned(std::string_view json, const std::string& name);

/// Words of the text that are not among `words`, each once, in their order: letters, digits and what is not
/// ASCII, with an apostrophe inside. Without `words`, which other models don't list, none.
std::vector<std::string> wordsOutside(const std::vector<std::string>& words, std::string_view text);

}  // namespace headscope::app
