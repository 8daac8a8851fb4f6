#include "app/commands/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "app/commands/attend.h"
#include "app/commands/commands.h"
#include "attention/core/machine.h"
#include "attention/text/ascii.h"
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

void printProgress(const std::string& line, bool last) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s%s%s", terminal ? "\r" : "", printable(line).c_str(),
               terminal && !last ? "" : "\n");
}

namespace {

/// "; did you mean --window?" for an option that the command doesn't have.
std::string meantOption(const CLI::App& app, const CLI::Error& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return "";
  const std::string message = error.what();
  const std::size_t begin = message.find(" --");
  if (begin == std::string::npos) return "";
  const std::string word = message.substr(begin + 1, message.find_first_of(" =", begin + 1) - begin - 1);
  std::vector<std::string> options;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return each->count() > 0; }))
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  return attention::suggestion(word, std::vector<std::string_view>(options.begin(), options.end()));
}

/// Opens standard streams that are closed, so that no file or pipe takes their place and gets the program's
/// messages. They can't be used, as before: reading the input fails, and so does writing to the others.
void openStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Reads "464,3290,318"; throws for anything else.
std::vector<attention::Index> numbersOf(const std::string& option, std::string_view list) {
  std::vector<attention::Index> numbers;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view word = list.substr(begin, end - begin);
    attention::Index number = 0;
    const auto [after, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (fault != std::errc() || after != word.data() + word.size() || number < 0)
      throw CLI::ValidationError(option + " has " + attention::quotedText(word) +
                                 ", expected whole numbers with commas between them, as 464,3290,318");
    numbers.push_back(number);
    begin = end + 1;
  }
  return numbers;
}

}  // namespace

CLI::Option* addNumbers(CLI::App& command, const std::string& name, std::vector<Index>& numbers,
                        const std::string& help) {
  const auto take = [name, &numbers](const std::vector<std::string>& lists) {
    for (const std::string& list : lists)
      for (const Index number : numbersOf(name, list)) numbers.push_back(number);
  };
  return command.add_option_function<std::vector<std::string>>(name, take, help)
      ->type_name("INT,…")
      ->allow_extra_args(false);
}

int runProgram(int argc, const char* const* argv, const std::string& version) {
  openStandardStreams();
  attention::removeTemporaryFilesOnSignals();
  render::setSoftwareThreads();
  if (const char* const target = std::getenv("HEADSCOPE_TARGET")) {
    const attention::Status held = attention::restrictInstructionSet(target);
    if (!held) return fail({"HEADSCOPE_TARGET: " + printable(held.error().message)});
  }
  CLI::App app{"A microscope for attention heads: type tokens, drag sliders, and see every head change.",
               "headscope"};
  app.set_version_flag("--version", "headscope " + version);
  app.require_subcommand(0, 1);
  app.fallthrough(false);
  std::string scene;
  app.add_option(
         "SCENE", scene,
         "A scene, a link, a lesson, a model (a folder or a GGUF file), recorded attention or learned, to "
         "open in the window")
      ->check(checkFileName);
  bool sends = false;
  app.add_flag("--send", sends, "Open it in the window opened last, if there is one");
  int exitCode = 0;
  addRenderCommand(app, exitCode);
  addAttendCommand(app, exitCode);
  addSnapshotCommand(app, exitCode);
  addSceneCommand(app, exitCode);
  addMaskCommand(app, exitCode);
  addModelCommand(app, exitCode);
  addStudyCommand(app, exitCode);
  addViewCommand(app, exitCode);
  addBenchCommand(app, exitCode);
  addTokenizeCommand(app, exitCode);
  addCostCommand(app, exitCode);
  addLessonCommand(app, exitCode);
  addLinkCommand(app, exitCode);
  addExportHtmlCommand(app, exitCode);
  addHandoutCommand(app, exitCode);
  addRecordCommand(app, exitCode);
  addPythonCommand(app, exitCode);
  addHelpCommand(app, exitCode);
  // Checked before the commands run: an argument before a command would be ignored silently.
  app.parse_complete_callback([&] {
    if (!app.get_subcommands().empty() && !scene.empty())
      throw CLI::ValidationError("\"" + scene + "\" is before the command " +
                                 app.get_subcommands().front()->get_name() + ", expected after it");
  });
  app.failure_message([&app](const CLI::App*, const CLI::Error& error) {
    return "headscope: " + printable(error.what()) + meantOption(app, error) + "\n";
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and the version arrive as exceptions too.
    if (app.exit(error) != 0) return kExitUsage;
    return std::cout.flush() ? kExitDone : fail({"standard output can't be written"});
  }
  if (app.get_subcommands().empty())
    exitCode = guarded([&] { return sends && sendToWindow(scene) ? kExitDone : runWindow(scene); });
  return exitCode;
}

}  // namespace headscope::app
