#pragma once

#include <string>
#include <string_view>

#include "attention/expressions/expression.h"

namespace headscope::app {

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

}  // namespace headscope::app
