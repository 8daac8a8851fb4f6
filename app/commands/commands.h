#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/scene/scene.h"
#include "app/scene/text/number_text.h"
#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/quote.h"

namespace headscope::app {

// Each command registers itself with the command line and sets its exit code: 0 = done, 1 = failed. CLI11
// detects wrong usage and exits with 2.

void addRenderCommand(CLI::App& app, int& exitCode);
void addSnapshotCommand(CLI::App& app, int& exitCode);
void addSceneCommand(CLI::App& app, int& exitCode);
void addViewCommand(CLI::App& app, int& exitCode);
void addMaskCommand(CLI::App& app, int& exitCode);
void addBenchCommand(CLI::App& app, int& exitCode);
void addModelCommand(CLI::App& app, int& exitCode);
void addStudyCommand(CLI::App& app, int& exitCode);
void addTokenizeCommand(CLI::App& app, int& exitCode);
void addCostCommand(CLI::App& app, int& exitCode);
void addLessonCommand(CLI::App& app, int& exitCode);
void addLinkCommand(CLI::App& app, int& exitCode);
void addExportHtmlCommand(CLI::App& app, int& exitCode);
void addHandoutCommand(CLI::App& app, int& exitCode);
void addRecordCommand(CLI::App& app, int& exitCode);
void addPythonCommand(CLI::App& app, int& exitCode);
void addHelpCommand(CLI::App& app, int& exitCode);

/// Whether `path` has the extension of a file with recorded attention, or of one often mistaken for it.
bool hasRecordedExtension(const std::string& path);

/// Reads the scene of a file or a link; returns the opening scene if `path` is empty.
attention::Result<Scene> sceneOrOpening(const std::string& path);

/// Returns the file of the bundled lesson named `path`, unless `path` exists; otherwise `path` itself.
std::filesystem::path lessonOr(const std::string& path);

/// Adds an option that takes whole numbers from 0 with commas between them. Anything else, an empty entry
/// too, is wrong usage. `numbers` must outlive the parsing.
CLI::Option* addNumbers(CLI::App& command, const std::string& name, std::vector<attention::Index>& numbers,
                        const std::string& help);

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

/// Returns `message` with its line breaks, but with everything else that controls a terminal escaped.
std::string printable(std::string_view message);

/// The kind of output: text, or JSON, whose escapes are written as JSON escapes.
enum class Printed { text, json };

/// Prints a command's result on standard output, which nothing else writes to; returns the exit code. Other
/// programs get the text unchanged; on a terminal, control characters from files and models are escaped.
int print(const std::string& text, Printed as = Printed::text);

/// Prints one sentence on standard error.
inline void warn(const std::string& sentence) {
  std::fprintf(stderr, "headscope: %s\n", printable(sentence).c_str());
}

/// Prints a command's progress on standard error, on a terminal in the same line until the last.
void printProgress(const std::string& line, bool last);

/// Checks options that take a path: returns what is wrong, or "".
inline std::string checkFileName(const std::string& path) {
  return path.empty() ? "the name is empty, expected a file's" : "";
}

/// Checks options that take a count: returns what is wrong, or "". Without this check, a number that is too
/// large would be taken as the largest one possible.
inline std::string checkPositiveCount(const std::string& text) {
  attention::Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 1) return "";
  return attention::quotedText(text) +
         " was given, expected a whole number from 1 to 9,223,372,036,854,775,807";
}

/// Prints why the command failed; returns its exit code.
inline int fail(const attention::Error& error) {
  warn(error.message);
  return kExitFailed;
}

/// Prints what is wrong with the options; returns the exit code.
inline int usage(const attention::Error& error) {
  warn(error.message);
  return kExitUsage;
}

/// Runs a command. An exception (no OpenGL, no memory) becomes one sentence and exit code 1.
template <typename Command>
int guarded(Command command) {
  try {
    return command();
  } catch (const std::bad_alloc&) {
    return fail({"there is not enough free memory for this"});
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) return fail({error.what()});
    return fail(
        {"the system refuses to start more threads; if memory is limited (ulimit -v), raise the limit"});
  } catch (const std::exception& error) {
    return fail({error.what()});
  }
}

}  // namespace headscope::app
