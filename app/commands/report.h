#pragma once

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "app/scene/text/number_text.h"
#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/quote.h"

namespace headscope::app {

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
