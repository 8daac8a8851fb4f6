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

/// How a command ended: as asked, could not, or was asked wrongly.
inline constexpr int kExitDone = 0, kExitFailed = 1, kExitUsage = 2;

/// A message whose lines stay lines, and in which nothing else steers the terminal.
std::string printable(std::string_view message);

/// What a command prints: text, or JSON, in which an escape is written as JSON has it.
enum class Printed { text, json };

/// Prints what a command found, on standard output; its exit code. Another program reads it as it is; on a
/// terminal, nothing that a file or a model says in it steers that. Nothing else writes to standard output.
int print(const std::string& text, Printed as = Printed::text);

/// One sentence on standard error.
inline void warn(const std::string& sentence) {
  std::fprintf(stderr, "headscope: %s\n", printable(sentence).c_str());
}

/// How far a command has come, on standard error: on a terminal in one line, until the last.
void tellProgress(const std::string& line, bool last);

/// For options that take a path: what is wrong with one, or nothing.
inline std::string namesFile(const std::string& path) {
  return path.empty() ? "the name is empty, expected a file's" : "";
}

/// For options that take a count: what is wrong with one, or nothing. Without it what is too large would be
/// taken as the largest number there is.
inline std::string countsSomething(const std::string& text) {
  attention::Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 1) return "";
  return attention::quotedText(text) +
         " was given, expected a whole number from 1 to 9,223,372,036,854,775,807";
}

/// Says why the command could not; its exit code.
inline int fail(const attention::Error& error) {
  warn(error.message);
  return kExitFailed;
}

/// Says what was wrong with the options; its exit code.
inline int usage(const attention::Error& error) {
  warn(error.message);
  return kExitUsage;
}

/// Runs a command; what it throws (no OpenGL, no memory) becomes one sentence and exit code 1.
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
