#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::app {

/// One thing that the miniature has learned, with its figures from scores.json.
struct LearnedSkill {
  std::string name;   ///< in files: "got"
  std::string title;  ///< on screen: "Who got the key"
  std::string text;   ///< an example; if there is a `next`, it ends before that word
  std::string next;   ///< the word that the model predicts next; empty if nothing is asked
  /// Held-out sentences whose next word it predicts, and their total; 0 of 0 if nothing is asked.
  attention::Index right = 0, of = 0;
  /// The head that attends to the answer, and its mean weight there.
  struct Head {
    attention::Index layer = 0, head = 0;
    double score = 0;
  };
  std::optional<Head> head;
  /// A similar text after which the model predicts another word, `otherNext`; empty if there is none.
  std::string other = {}, otherNext = {};
};

/// What the miniature has learned, and the words that are single tokens, sorted. It reads other words in
/// pieces.
struct Learned {
  std::vector<LearnedSkill> skills;
  std::vector<std::string> words;
};

/// Reads scores.json in a model's folder. Returns an Error if it is missing or not such a file.
attention::Result<Learned> readLearned(const std::filesystem::path& folder);
/// The same from the file's text; Errors are prefixed by `name`.
attention::Result<Learned> parseLearned(std::string_view json, const std::string& name);

/// The words of the text that are not in `words`, each once, in order. Words are letters, digits and
/// non-ASCII characters, with apostrophes inside. Returns nothing if `words` is empty, as for other models.
std::vector<std::string> wordsOutside(const std::vector<std::string>& words, std::string_view text);

}  // namespace headscope::app
