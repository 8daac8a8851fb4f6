#include "app/commands/program.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>

#include "app/commands/commands.h"
#include "app/platform/process.h"
#include "attention/core/machine.h"
#include "attention/formats/files/file_io.h"
#include "render/software_threads.h"

namespace headscope::app {

std::string printable(std::string_view message) {
  std::string text;
  for (std::size_t from = 0; from <= message.size();) {
    const std::size_t to = std::min(message.find('\n', from), message.size());
    text += (from > 0 ? "\n" : "") + attention::escapedText(message.substr(from, to - from));
    from = to + 1;
  }
  return text;
}

int print(const std::string& text, Printed as) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  const std::string shown = !terminal             ? text
                            : as == Printed::json ? attention::escapedJson(text)
                                                  : printable(text);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() && std::fflush(stdout) == 0)
    return kExitDone;
  return fail({"standard output can't be written"});
}

void warn(const std::string& sentence) {
  std::fprintf(stderr, "headscope: %s\n", printable(sentence).c_str());
}

int fail(const attention::Error& error) {
  warn(error.message);
  return kExitFailed;
}

void checkRange(const char* option, Index found, Index low, Index high) {
  if (found < low || found > high)
    refuse(fmt::format("{} is {}, expected {} to {}", option, found, low, high));
}

std::string checkFileName(const std::string& path) {
  return path.empty() ? "the name is empty, expected a file's" : "";
}

std::string checkPositiveCount(const std::string& text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 1) return "";
  return attention::quotedText(text) +
         " was given, expected a whole number from 1 to 9,223,372,036,854,775,807";
}

void printProgress(const std::string& line, bool last) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s%s%s", terminal ? "\r" : "", printable(line).c_str(),
               terminal && !last ? "" : "\n");
}

int runProgram(int argc, const char* const* argv, const std::string& version,
               const std::vector<Command>& more) {
  openStandardStreams();
  attention::removeTemporaryFilesOnSignals();
  render::setSoftwareThreads();
  if (const char* const target = std::getenv("HEADSCOPE_TARGET")) {
    const attention::Status held = attention::restrictInstructionSet(target);
    if (!held) return fail({"HEADSCOPE_TARGET: " + printable(held.error().message)});
  }
  std::string scene;
  bool sends = false;
  Program program;
  program.version = version;
  program.own = {"headscope",
                 "A microscope for attention heads: type tokens, drag sliders, and see every head change."};
  program.own.options = {
      Option("SCENE",
             "A scene, a link, a lesson, a model (a folder or a GGUF file), recorded attention or learned, "
             "to open in the window",
             &scene, kFileName),
      Option("--send", "Open it in the window opened last, if there is one", &sends)};
  program.own.run = [&] { return sends && sendToWindow(scene) ? kExitDone : runWindow(scene); };
  program.commands = {renderCommand(),     attendCommand(),  snapshotCommand(), sceneCommand(),
                      maskCommand(),       modelCommand(),   studyCommand(),    viewCommand(),
                      tokenizeCommand(),   costCommand(),    lessonCommand(),   linkCommand(),
                      exportHtmlCommand(), handoutCommand(), recordCommand(),   pythonCommand(),
                      helpCommand(program)};
  program.commands.insert(program.commands.end(), more.begin(), more.end());
  return runCommandLine(program, argc, argv);
}

}  // namespace headscope::app
