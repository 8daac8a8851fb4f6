#pragma once

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/commands/command_line.h"
#include "app/scene/scene.h"
#include "app/scene/text/number_text.h"
#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/quote.h"
#include "attention/masks/pattern.h"

namespace headscope::app {

Command renderCommand();
Command attendCommand();
Command snapshotCommand();
Command sceneCommand();
Command viewCommand();
Command maskCommand();
Command modelCommand();
Command studyCommand();
Command tokenizeCommand();
Command costCommand();
Command lessonCommand();
Command linkCommand();
Command exportHtmlCommand();
Command handoutCommand();
Command recordCommand();
Command pythonCommand();
/// `program` must outlive it; its commands are read when the command runs.
Command helpCommand(const Program& program);

/// Whether `path` has the extension of a file with recorded attention, or of one often mistaken for it.
bool hasRecordedExtension(const std::string& path);

/// Reads the scene of a file or a link; returns the opening scene if `path` is empty.
attention::Result<Scene> sceneOrOpening(const std::string& path);

/// Returns the file of the bundled lesson named `path`, unless `path` exists; otherwise `path` itself.
std::filesystem::path lessonOr(const std::string& path);

/// Reads a text of UTF-8, which messages call `name`; ends the command if that fails.
std::string readTextFile(const std::string& path, const std::string& name);

/// Parses a size in pixels such as "1280x720". The Error is worded for the option --size.
attention::Result<std::pair<int, int>> parseSize(const std::string& text);

/// Opens the window on the scene or lesson of a file or a link ("" = the opening scene) and runs until it is
/// closed. If a link can't be read, the window shows the reason and the opening scene.
int runWindow(const std::string& path);
/// The same for a scene that is not in a file.
int runWindow(const Scene& scene);
/// The same for a lesson's file, which must be readable.
int runLesson(const std::string& path);
/// Sends a file or folder to the window opened last. Returns false if there is no window or no such file.
bool sendToWindow(const std::string& path);

/// Exit codes: done, failed, or wrong usage.
inline constexpr int kExitDone = 0, kExitFailed = 1, kExitUsage = 2;

/// Ends a command from anywhere in it: its sentence is printed on standard error.
struct CommandEnd {
  int exitCode;
  std::string message;
};

/// Ends a command because its options are wrong.
[[noreturn]] inline void refuse(const std::string& message) {
  throw CommandEnd{kExitUsage, message};
}

/// Ends a command because it failed.
[[noreturn]] inline void failWith(const std::string& message) {
  throw CommandEnd{kExitFailed, message};
}

/// Returns the value, or refuses the options. `before` is put before the Error's sentence.
template <typename T>
T orRefuse(attention::Result<T> result, const std::string& before = "") {
  if (!result) refuse(before + result.error().message);
  return *std::move(result);
}

/// Returns the value, or ends the command because it failed.
template <typename T>
T orFail(attention::Result<T> result, const std::string& before = "") {
  if (!result) failWith(before + result.error().message);
  return *std::move(result);
}

/// Refuses a number that is out of range.
void checkRange(const char* option, Index found, Index low, Index high);

/// Returns `message` with its line breaks, but with everything else that controls a terminal escaped.
std::string printable(std::string_view message);

/// The kind of output: text, or JSON, whose escapes are written as JSON escapes.
enum class Printed { text, json };

/// Prints a command's result on standard output, which nothing else writes to; returns the exit code. Other
/// programs get the text unchanged; on a terminal, control characters from files and models are escaped.
int print(const std::string& text, Printed as = Printed::text);

/// Prints one sentence on standard error.
void warn(const std::string& sentence);
/// The same; returns the exit code of a command that failed.
int fail(const attention::Error& error);

/// Prints a command's progress on standard error, on a terminal in the same line until the last.
void printProgress(const std::string& line, bool last);

/// Describes a pattern's parameter: "size: 1 to 1073741824, default 128; keys that are seen".
std::string parameterText(const attention::ParameterInfo& parameter);

/// Checks options that take a path: returns what is wrong, or "".
std::string checkFileName(const std::string& path);
/// The rules of options that take a path, which may not be empty.
inline const OptionRules kFileName{.check = checkFileName},
    kRequiredFileName{.check = checkFileName, .required = true};

/// The rules of options whose default help shows.
inline const OptionRules kShown{.shown = true};

/// Checks options that take a count. Without this check, a number that is too large would be taken as the
/// largest one possible.
std::string checkPositiveCount(const std::string& text);

/// The words of a table as an option's values.
template <typename Names>
std::vector<std::string> wordsOf(const Names& names) {
  return {std::begin(names), std::end(names)};
}

}  // namespace headscope::app
