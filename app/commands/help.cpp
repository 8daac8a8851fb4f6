#include "app/commands/help.h"

#include "app/commands/commands.h"
#include "app/platform/assets.h"
#include "app/scene/fields.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/text/manual.h"
#include "app/session/headless.h"
#include "app/shell/stage.h"
#include "attention/formats/files/file_io.h"
#include "attention/heads/detectors.h"
#include "attention/text/ascii.h"

namespace headscope::app {

/// Returns a table of the manual, generated from the program, as Markdown: "fields", "patterns", "detectors",
/// "names", "commands" (of `program`), "keys" or "settings". Throws std::invalid_argument for another name,
/// and std::runtime_error if the window whose keys are listed can't be drawn.
std::string manualTable(std::string_view name, const CLI::App& program);

namespace {

/// Formats a table cell: a single line with escaped bars.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string code(std::string_view text) {
  return "`" + cell(text) + "`";
}

std::string row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& each : cells) line += " " + each + " |";
  return line + "\n";
}

std::string patterns() {
  std::string table = "| pattern | visible where | parameters | used by |\n|---|---|---|---|\n";
  for (const attention::PatternInfo& info : attention::patternTable()) {
    std::string parameters;
    for (const auto& parameter : info.parameters)
      parameters += (parameters.empty() ? "" : "; ") + parameterText(parameter);
    table += row({code(info.name), cell(info.formula), cell(parameters), cell(info.users)});
  }
  return table;
}

std::string detectors() {
  std::string table = "| detector | what it scores |\n|---|---|\n";
  for (const attention::Detector* detector : attention::allDetectors())
    table += row({cell(detector->title), cell(detector->help)});
  return table;
}

std::string optionsOf(const CLI::App& command) {
  std::string table = "| option | what it does |\n|---|---|\n";
  for (const CLI::Option* option : command.get_options()) {
    if (option == command.get_help_ptr() || option->get_group().empty()) continue;  // old names have no group
    table += row({code(option->get_name(option->get_positional(), true)), cell(option->get_description())});
  }
  return table;
}

std::string commands(const CLI::App& program) {
  std::string text;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    text += "### headscope " + command->get_name() + "\n\n" + command->get_description() + ".\n\n" +
            optionsOf(*command) + "\n";
  return text;
}

constexpr const char* kHead = "\n\n| key | what it does |\n|---|---|\n";

/// Lists all actions with a key, page by page; those that work everywhere come first.
std::string keys() {
  HeadlessApp app(640, 480);
  std::vector<std::string> pages{""};
  for (const PageRow& page : pageTable()) pages.emplace_back(page.info.key);
  std::string text;
  const auto tableOf = [&](auto&& belongs) {
    std::string table;
    for (const Action& action : app.session().actions().all())
      if (action.shortcut.key != Key::none && belongs(action))
        table += row({cell(shortcutText(action.shortcut)), cell(action.name)});
    return table;
  };
  for (const std::string& page : pages) {
    const std::string table =
        tableOf([&](const Action& action) { return action.page == page && !isStageKey(action); });
    if (table.empty()) continue;
    const auto named = std::find_if(pageTable().begin(), pageTable().end(),
                                    [&](const PageRow& each) { return each.info.key == page; });
    const std::string title = page.empty() ? "Everywhere" : "On " + std::string(named->info.name);
    text += "## " + title + kHead + table + "\n";
    if (page.empty()) text += std::string("## While presenting") + kHead + tableOf(isStageKey) + "\n";
  }
  return text;
}

}  // namespace

std::string manualTable(std::string_view name, const CLI::App& program) {
  if (name == "fields") return fieldsMarkdown();
  if (name == "names") return lessonNamesMarkdown();
  if (name == "patterns") return patterns();
  if (name == "detectors") return detectors();
  if (name == "commands") return commands(program);
  if (name == "keys") return keys();
  if (name == "settings") return preferencesMarkdown();
  throw std::invalid_argument("the manual asks for a table " + std::string(name) + ", which doesn't exist");
}

namespace {

using attention::Result;

struct HelpOptions {
  std::string topic;
  std::string man, shell;
  bool update = false, check = false;
};

int listTopics(const std::vector<Chapter>& manual) {
  std::string list =
      "headscope help TOPIC prints a chapter of the manual, or a command's options. Chapters:\n";
  for (const Chapter& chapter : manual) list += "  " + chapter.key + "\n";
  return print(list);
}

/// Prints a chapter, or else a command's --help.
int printTopic(const std::vector<Chapter>& manual, const CLI::App& program, const std::string& topic) {
  const Chapter* chapter = findChapter(manual, topic);
  const auto commands =
      program.get_subcommands([&](const CLI::App* each) { return each->get_name() == topic; });
  if (!chapter && commands.empty()) {
    std::vector<std::string_view> names;
    for (const Chapter& each : manual) names.push_back(each.key);
    return usage({"no chapter is named " + attention::quotedText(topic) +
                  attention::suggestion(topic, names) + "; headscope help lists them"});
  }
  return print(chapter ? chapter->text : commands.front()->help());
}

/// Regenerates the tables. With `check`, writes nothing and fails if a chapter's tables are outdated.
int renewTables(const std::vector<Chapter>& manual, const CLI::App& program, bool check) {
  int exitCode = kExitDone;
  for (const Chapter& chapter : manual) {
    const Result<std::string> text =
        withTables(chapter.text, [&](std::string_view name) { return manualTable(name, program); });
    if (!text) return fail({chapter.key + ".md: " + text.error().message});
    if (*text == chapter.text) continue;
    const std::filesystem::path path = assetFolder() / "manual" / (chapter.key + ".md");
    if (check) {
      exitCode = fail({chapter.key +
                       ".md has tables that differ from the program's; headscope help --update rewrites "
                       "them"});
    } else if (const auto written = attention::writeFile(path, *text); !written) {
      return fail(written.error());
    }
  }
  return exitCode;
}

int writeManPages(const CLI::App& program, const std::filesystem::path& folder) {
  for (const auto& [name, text] : manPages(program))
    if (const auto written = attention::writeFile(folder / name, text); !written)
      return fail(written.error());
  return kExitDone;
}

}  // namespace

void addHelpCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("help", "Print a chapter of the manual, or a command's options");
  const auto options = std::make_shared<HelpOptions>();
  command->add_option("TOPIC", options->topic,
                      "A chapter, such as cache, or a command; without it, the list");
  command->add_flag("--update", options->update, "Rewrite the manual's tables from the program's own");
  command->add_flag("--check", options->check, "Say which of the manual's tables differ from the program's");
  command->add_option("--man", options->man, "Write a man page for each command into this folder")
      ->type_name("FOLDER")
      ->check(checkFileName);
  command
      ->add_option("--completion", options->shell,
                   "Print the completion script of a shell: bash, zsh or fish")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kShells), std::end(kShells))));
  command->callback([options, &app, &exitCode] {
    exitCode = guarded([&] {
      if (!options->man.empty()) return writeManPages(app, options->man);
      if (!options->shell.empty()) return print(completionScript(app, options->shell));
      const auto manual = readManual();
      if (!manual) return fail(manual.error());
      if (options->update || options->check) return renewTables(*manual, app, options->check);
      return options->topic.empty() ? listTopics(*manual) : printTopic(*manual, app, options->topic);
    });
  });
}

}  // namespace headscope::app
