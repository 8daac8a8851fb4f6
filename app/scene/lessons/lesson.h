#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/scene/scene.h"
#include "attention/expressions/expression.h"

namespace headscope::app {

/// The format of a computed number in a sentence.
struct NumberFormatText {
  enum class Kind { plain, decimals, thousands, percent, bytes, word } kind = Kind::plain;
  int digits = -1;  ///< after the point; −1 = as few as needed
  bool operator==(const NumberFormatText&) const = default;
};

/// Sentences with computed numbers: "puts {W[1][11][0]:.2} on". The rest is kept as written, with **bold**,
/// `code`, $formula$, [word](query) and [1](mark). Braces inside $…$ belong to the formula; \{ and \} are
/// literal braces, and \$ starts no formula.
class LessonText {
 public:
  /// Literal text, optionally followed by a number.
  struct Piece {
    std::string literal;
    std::optional<attention::Expression> value;
    NumberFormatText format;
    bool operator==(const Piece&) const = default;
  };

  LessonText() = default;
  /// Returns an Error for an unbalanced brace, or for an expression or format that is refused.
  static attention::Result<LessonText> parse(std::string_view text);

  const std::vector<Piece>& pieces() const { return pieces_; }
  bool empty() const { return pieces_.empty(); }
  bool operator==(const LessonText&) const = default;

  using Evaluate = std::function<attention::Result<attention::Array>(const attention::Expression&)>;
  /// Returns the text with its numbers; a number in the format "word" is a position in `words`: “street” (5).
  /// Returns the Errors of `evaluate`, or one for an array that isn't a number or a list of up to 16, or for
  /// a position without a word, prefixed by the expression.
  attention::Result<std::string> filled(const Evaluate& evaluate,
                                        std::span<const std::string> words = {}) const;

 private:
  std::vector<Piece> pieces_;
};

/// Formats a number: "0.99" for :.2, "1,048,576" for :, "12.3 %" for :% (":.0%" is "12 %"), "2.25 KiB" for
/// :B, else up to four significant digits, whole numbers in full. Uses a true minus sign.
std::string formatNumber(double value, const NumberFormatText& format);

/// The place that a step points to: the whole page, a head, a row, column or cell of it, the side panel, or
/// the area right of a control.
enum class LookAt { page, head, row, column, cell, side, right };
inline constexpr std::array<std::string_view, 7> kLookPlaces{"page", "head", "row",  "column",
                                                             "cell", "side", "right"};

/// A picture of a step's own, in place of a page: how the model's text becomes numbers, computed arrays, or a
/// head's keys as points in a plane.
enum class LookPicture { none, ids, vectors, rotation, arrays, plane };
inline constexpr std::array<std::string_view, 6> kLookPictures{"none",     "ids",    "vectors",
                                                               "rotation", "arrays", "plane"};

/// One array of a picture: a list of numbers is drawn as bars, a matrix as a map, several as maps in a row.
struct LookArray {
  LessonText label;
  attention::Expression values;
  bool words = false;   ///< names the numbers by the text's first words
  bool result = false;  ///< hidden until the step's question is answered
  bool operator==(const LookArray&) const = default;
};

/// What to look at: a page, and a place in that page's own terms.
struct LessonLook {
  std::string page = "heads";
  LookPicture picture = LookPicture::none;  ///< shown instead of the page
  LookAt at = LookAt::page;
  Index head = -1, query = -1, key = -1;  ///< −1 = not given
  std::string control;                    ///< a control's name
  int mark = 0;                           ///< the number that links words to the place; 0 = none
  std::vector<LookArray> arrays = {};     ///< for that picture: at least one
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
  std::string part;               ///< heading of its row on Learn; "" = "Your lessons"
  std::string coverStep;          ///< id of the step that `cover` belongs to
  attention::Expression cover;    ///< picture in the list of lessons: a map
  Scene opening;                  ///< what "opening" refers to in its steps
  std::vector<LessonStep> steps;  ///< at least one
  LessonText learned;             ///< at the end, with the numbers of the last step; may be empty

  /// Returns the index of a step; −1 if there is none.
  int stepAt(std::string_view id) const;
};

inline constexpr const char* kOpeningStep = "opening";
inline constexpr std::size_t kMaxLessonBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxLessonSteps = 200, kMaxLessonClaims = 64, kMaxLessonTries = 8,
                             kMaxLookArrays = 6;
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

/// Whether a file declares near its beginning that it is a lesson. Reads a few kilobytes.
bool isLessonFile(const std::filesystem::path& path);

/// A name that a lesson's expressions may use, or a function in addition to the language's own.
struct LessonName {
  std::string_view name;   ///< "W"; for a function with its arguments: "cache_bytes(layers, …)"
  std::string_view shape;  ///< "[heads, n, m]"; "" for a number
  std::string_view help;   ///< one sentence
  bool function() const { return name.ends_with(')'); }
  std::string_view word() const { return name.substr(0, name.find('(')); }
};
/// Returns null if there is none of that word and kind.
const LessonName* findLessonName(std::string_view word, bool function);

/// The parts of a written name: "open.cost.bytes" is cost.bytes of the step "open".
struct SplitName {
  std::string_view step;  ///< empty = the step that contains the expression
  const LessonName* name = nullptr;
};
/// `name` is null if nothing has that name. Whether the step exists is left to the caller.
SplitName splitLessonName(std::string_view written, bool function);

/// Returns the current name of a control; older lessons use former names.
std::string currentControl(std::string written);

/// Describes a name that splitLessonName() doesn't find, and suggests the nearest one.
std::string unknownLessonName(const std::string& written, bool function);

/// Formats the manual's tables of names and of the language's functions as Markdown.
std::string lessonNamesMarkdown();

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
