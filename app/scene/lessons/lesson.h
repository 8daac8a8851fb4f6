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

/// The place that a step looks at: the page as a whole, a head, a row, column or cell of it, the panel at the
/// side, or what is at the right of a control.
enum class LookAt { page, head, row, column, cell, side, right };
inline constexpr std::array<std::string_view, 7> kLookPlaces{"page", "head", "row",  "column",
                                                             "cell", "side", "right"};

/// What to look at, and where: a page and a place on it, in the page's own words.
struct LessonLook {
  std::string page = "heads";
  LookAt at = LookAt::page;
  Index head = -1, query = -1, key = -1;  ///< −1: not said
  std::string control;                    ///< a control's name
  int mark = 0;                           ///< the number that ties words to the place; 0: none
  bool operator==(const LessonLook&) const = default;
};

struct LessonOption {
  LessonText text, why;
  attention::Expression trueIf;
  std::optional<attention::Expression> row;  ///< what it would look like: a number, a row or a map
};

struct LessonQuestion {
  LessonText ask;
  std::vector<LessonOption> options;
};

struct LessonStep {
  std::string id, title;
  std::string from;                  ///< the step whose scene was changed, or "opening"
  Scene scene;                       ///< complete
  std::vector<std::string> changed;  ///< paths of the fields that the patch sets
  LessonText text;
  LessonLook look;
  std::string compare;             ///< the id of the step that stands beside it; empty: none
  std::vector<std::string> tries;  ///< paths of fields, or names of plain masks, to play with
  std::string notes;               ///< for the lecturer
  std::optional<LessonQuestion> question;
  std::vector<attention::Expression> claims;
};

/// A lesson as its file says it, every scene resolved. The format is in the manual, assets/manual/lessons.md.
struct Lesson {
  std::string name;  ///< of its file, for messages
  std::string id;
  int number = 0, minutes = 0;
  std::string title, summary;
  std::string coverStep;          ///< the id of the step that `cover` is of
  attention::Expression cover;    ///< the picture in the list of lessons: a map
  Scene opening;                  ///< what "opening" is to its steps
  std::vector<LessonStep> steps;  ///< at least one

  /// −1 where there is no such step.
  int stepAt(std::string_view id) const;
};

inline constexpr const char* kOpeningStep = "opening";
inline constexpr std::size_t kMaxLessonBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxLessonSteps = 200, kMaxLessonClaims = 64, kMaxLessonTries = 8;
inline constexpr std::size_t kMinLessonOptions = 2, kMaxLessonOptions = 6;
inline constexpr std::size_t kMaxLessonText = 8192, kMaxLessonTitle = 200;

/// Masks that "try" may name beside the paths of fields: switches and sizes of the plain layers.
struct PlainMask {
  const char *path, *label;
  attention::PatternKind kind;
};
inline constexpr PlainMask kPlainMasks[] = {
    {"mask.causal", "Causal", attention::PatternKind::causal},
    {"mask.padding", "Padding", attention::PatternKind::padding},
    {"mask.window", "Sliding window", attention::PatternKind::window},
    {"mask.sinks", "Sinks + window", attention::PatternKind::streaming}};

/// Untrusted text in. The first thing that is wrong is an error in one sentence: "NAME, line 12: steps[2].…".
/// Files and models that it names are looked for from `folder` on, the working folder where that is empty.
/// Time in proportion to the text, besides the models that it opens, each once; an error once `stop` is
/// requested.
attention::Result<std::shared_ptr<const Lesson>> parseLesson(std::string_view json, const std::string& name,
                                                             const std::stop_token& stop = {},
                                                             const std::filesystem::path& folder = {});
attention::Result<std::shared_ptr<const Lesson>> readLesson(const std::filesystem::path& path,
                                                            const std::stop_token& stop = {});

/// The lesson's steps as the views of a talk, with their titles and the lecturer's notes.
Talk talkOf(const Lesson& lesson);

// Writing. Texts are the file's, which a person goes on writing: what stands there stays as it is.

/// A lesson of one step, `now`.
std::string newLesson(const Scene& now, const std::string& title = "My lesson");
/// The lesson with one more step at its end: its patch has the fields in which `now` is other than the last
/// step's scene. Errors: those of parseLesson(), and what a file of steps can't hold.
attention::Result<std::string> appendStep(std::string_view json, const Scene& now, const std::string& title,
                                          const std::filesystem::path& folder = {});

}  // namespace headscope::app
