#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace headscope::app {

/// The chosen option of a step's question.
struct GuessedOption {
  int option = 0;
  bool right = false;
  bool operator==(const GuessedOption&) const = default;
};

/// The progress in one lesson.
struct LessonProgress {
  std::set<std::string> seen;                    ///< ids of the steps seen
  std::map<std::string, GuessedOption> guesses;  ///< by the step's id
  std::string last;                              ///< the step shown last
  bool operator==(const LessonProgress&) const = default;
};

/// The user's progress in all lessons.
struct Progress {
  std::map<std::string, LessonProgress> lessons;  ///< by the lesson's id
  std::string last;                               ///< the lesson shown last
  bool operator==(const Progress&) const = default;
};

/// Never fails: what can't be read counts as not done.
Progress parseProgress(std::string_view json);
std::string formatProgress(const Progress& progress);

/// Reads lessons.json in `folder`.
Progress readProgress(const std::filesystem::path& folder);
/// Returns the path of that file.
std::filesystem::path progressPath(const std::filesystem::path& folder);

}  // namespace headscope::app
