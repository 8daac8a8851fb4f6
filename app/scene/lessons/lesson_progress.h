#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "attention/core/result.h"

namespace headscope::app {

/// What was guessed at a step's question.
struct GuessedOption {
  int option = 0;
  bool right = false;
  bool operator==(const GuessedOption&) const = default;
};

/// How far a lesson has come.
struct LessonProgress {
  std::set<std::string> seen;                    ///< ids of steps
  std::map<std::string, GuessedOption> guesses;  ///< by the step's id
  std::string last;                              ///< the step that was looked at last
  bool operator==(const LessonProgress&) const = default;
};

/// What this person has done of all lessons.
struct Progress {
  std::map<std::string, LessonProgress> lessons;  ///< by the lesson's id
  std::string last;                               ///< the lesson that was looked at last
  bool operator==(const Progress&) const = default;
};

/// Never fails: what can't be read was not done.
Progress parseProgress(std::string_view json);
std::string formatProgress(const Progress& progress);

/// lessons.json in `folder`.
Progress readProgress(const std::filesystem::path& folder);
/// Makes the folder where there is none.
attention::Status writeProgress(const std::filesystem::path& folder, const Progress& progress);

}  // namespace headscope::app
