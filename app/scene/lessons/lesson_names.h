#pragma once

#include <string>
#include <string_view>

#include "attention/expressions/expression.h"

namespace headscope::app {

/// What an expression of a lesson may name, or a function it may call beside the language's own.
struct LessonName {
  std::string_view name;   ///< "W"; of a function with its arguments: "cache_bytes(layers, …)"
  std::string_view shape;  ///< "[heads, n, m]"; "" of a number
  std::string_view help;   ///< one sentence
  bool function() const { return name.ends_with(')'); }
  std::string_view word() const { return name.substr(0, name.find('(')); }
};
/// Null where there is none of that word and kind.
const LessonName* findLessonName(std::string_view word, bool function);

/// A name as it is written, taken apart: "open.cost.bytes" is cost.bytes of the step "open".
struct SplitName {
  std::string_view step;  ///< empty: the step it stands in
  const LessonName* name = nullptr;
};
/// `name` null where nothing is called so; whether there is such a step is for the caller.
SplitName splitLessonName(std::string_view written, bool function);

/// What a control that a lesson names is called now: older lessons have former names.
std::string currentControl(std::string written);

/// What is wrong with a name that splitLessonName() doesn't find, with the nearest that there is.
std::string unknownLessonName(const std::string& written, bool function);

/// The manual's tables of names and of the language's functions, in Markdown.
std::string lessonNamesMarkdown();

}  // namespace headscope::app
