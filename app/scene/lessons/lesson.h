#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/scene/lessons/lesson_text.h"
#include "app/scene/scene.h"
#include "attention/expressions/expression.h"

namespace headscope::app {

/// The place that a step points to: the whole page, a head, a row, column or cell of it, the side panel, or
/// the area right of a control.
enum class LookAt { page, head, row, column, cell, side, right };
inline constexpr std::array<std::string_view, 7> kLookPlaces{"page", "head", "row",  "column",
                                                             "cell", "side", "right"};

/// What to look at: a page, and a place in that page's own terms.
struct LessonLook {
  std::string page = "heads";
  LookAt at = LookAt::page;
  Index head = -1, query = -1, key = -1;  ///< −1 = not given
  std::string control;                    ///< a control's name
  int mark = 0;                           ///< the number that links words to the place; 0 = none
  bool operator==(const LessonLook&) const = default;
};

struct LessonOption {
  LessonText text, why;
  attention::Expression trueIf;
  std::optional<attention::Expression> row;  ///< the expected result: a number, a row or a map
};

struct LessonQuestion {
  LessonText ask;
  std::vector<LessonOption> options;
};

struct LessonStep {
  std::string id, title;
  std::string from;                  ///< the step whose scene was changed, or "opening"
  Scene scene;                       ///< complete
  std::vector<std::string> changed;  ///< paths of the fields set by the patch
  LessonText text;
  LessonLook look;
  std::string compare;             ///< id of the step shown next to it; empty = none
  std::vector<std::string> tries;  ///< paths of fields, or names of plain masks, to play with
  std::string notes;               ///< for the lecturer
  std::optional<LessonQuestion> question;
  std::vector<attention::Expression> claims;
};

/// A lesson as its file defines it, with every scene resolved. assets/manual/lessons.md describes the format.
struct Lesson {
  std::string name;  ///< of its file, for messages
  std::string id;
  int number = 0, minutes = 0;
  std::string title, summary;
  std::string coverStep;          ///< id of the step that `cover` belongs to
  attention::Expression cover;    ///< picture in the list of lessons: a map
  Scene opening;                  ///< what "opening" refers to in its steps
  std::vector<LessonStep> steps;  ///< at least one

  /// Returns the index of a step; −1 if there is none.
  int stepAt(std::string_view id) const;
};

inline constexpr const char* kOpeningStep = "opening";
inline constexpr std::size_t kMaxLessonBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxLessonSteps = 200, kMaxLessonClaims = 64, kMaxLessonTries = 8;
inline constexpr std::size_t kMinLessonOptions = 2, kMaxLessonOptions = 6;
inline constexpr std::size_t kMaxLessonText = 8192, kMaxLessonTitle = 200;

/// Masks that "try" may name in addition to field paths: switches and sizes of the plain layers.
struct PlainMask {
  const char *path, *label;
  attention::PatternKind kind;
};
inline constexpr PlainMask kPlainMasks[] = {
    {"mask.causal", "Causal", attention::PatternKind::causal},
    {"mask.padding", "Padding", attention::PatternKind::padding},
    {"mask.window", "Sliding window", attention::PatternKind::window},
    {"mask.sinks", "Sinks + window", attention::PatternKind::streaming}};

/// Parses untrusted text. Returns an Error for the first problem, in one sentence: "NAME, line 12:
/// steps[2].…", or once `stop` is requested. Files and models are looked up from `folder`, or from the
/// working folder if it is empty. Time is proportional to the text, plus the models, each opened once.
attention::Result<std::shared_ptr<const Lesson>> parseLesson(std::string_view json, const std::string& name,
                                                             const std::stop_token& stop = {},
                                                             const std::filesystem::path& folder = {});
attention::Result<std::shared_ptr<const Lesson>> readLesson(const std::filesystem::path& path,
                                                            const std::stop_token& stop = {});

/// Returns the lesson's steps as the views of a talk, with their titles and the lecturer's notes.
Talk talkOf(const Lesson& lesson);

// Writing. The texts are files that their author keeps editing, so existing text stays unchanged.

/// A lesson with one step, `now`.
std::string newLesson(const Scene& now, const std::string& title = "My lesson");
/// Adds a step at the lesson's end. Its patch has the fields in which `now` differs from the last step's
/// scene. Returns the Errors of parseLesson(), or one if a file of steps can't hold the scene.
attention::Result<std::string> appendStep(std::string_view json, const Scene& now, const std::string& title,
                                          const std::filesystem::path& folder = {});

}  // namespace headscope::app
