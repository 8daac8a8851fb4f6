#include <fmt/format.h>

#include "app/commands/commands.h"
#include "app/platform/assets.h"
#include "app/scene/fields.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/text/manual.h"
#include "app/session/headless.h"
#include "app/shell/stage.h"
#include "attention/formats/files/file_io.h"
#include "attention/heads/detectors.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/config/families.h"
#include "attention/text/ascii.h"

namespace headscope::app {

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

std::string commands(const Program& program) {
  std::string text;
  for (const Command& command : program.commands) {
    text += "### headscope " + command.name + "\n\n" + command.help +
            ".\n\n| option | what it does |\n|---|---|\n";
    for (const Option& option : command.options)
      if (!option.rules.isOldName) text += row({code(option.names), cell(option.help)});
    text += "\n";
  }
  return text;
}

/// Lists model types by what is computed of them, in the order in which the table first has each kind.
std::string families() {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> kinds;
  for (const attention::ModelType& type : attention::modelTypes()) {
    auto found = std::ranges::find(kinds, type.computes, &decltype(kinds)::value_type::first);
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {type.computes, {}});
    found->second.emplace_back(type.name);
  }
  std::string table = "| what is computed | model_type |\n|---|---|\n";
  for (auto& [kind, names] : kinds) {
    std::ranges::sort(names);
    std::ranges::transform(names, names.begin(), code);
    table += row({std::string(kind), fmt::format("{}", fmt::join(names, ", "))});
  }
  return table;
}

/// Lists files that open, then those that don't with what to do instead.
std::string files() {
  std::string opens = "| file | what it holds |\n|---|---|\n",
              refused = "\n| refused | what it holds | instead |\n|---|---|---|\n";
  for (const attention::FileKind& kind : attention::fileKinds()) {
    std::vector<std::string> names;
    attention::forEachField(kind.names, [&](std::string_view name, std::string_view) {
      names.push_back(code(std::string(name)));
    });
    const std::string file = fmt::format("{}", fmt::join(names, ", "));
    if (kind.opens == attention::FileKind::Opens::yes)
      opens += row({file, std::string(kind.what)});
    else
      refused += row({file, std::string(kind.what), std::string(kind.instead)});
  }
  return opens + refused;
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

/// Returns a table of the manual, generated from the program, as Markdown. Throws std::invalid_argument for
/// an unknown name, and std::runtime_error if the window whose keys are listed can't be drawn.
std::string manualTable(std::string_view name, const Program& program) {
  if (name == "fields") return fieldsMarkdown();
  if (name == "names") return lessonNamesMarkdown();
  if (name == "patterns") return patterns();
  if (name == "detectors") return detectors();
  if (name == "commands") return commands(program);
  if (name == "families") return families();
  if (name == "files") return files();
  if (name == "keys") return keys();
  if (name == "settings") return preferencesMarkdown();
  throw std::invalid_argument("the manual names a table " + std::string(name) + ", which doesn't exist");
}

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
int printTopic(const std::vector<Chapter>& manual, const Program& program, const std::string& topic) {
  if (const Chapter* chapter = findChapter(manual, topic)) return print(chapter->text);
  std::vector<std::string_view> names;
  for (const Command& command : program.commands) {
    if (command.name == topic) return print(commandHelp(program, topic));
    names.push_back(command.name);
  }
  for (const Chapter& each : manual) names.push_back(each.key);
  refuse("no chapter is named " + attention::quotedText(topic) + attention::suggestion(topic, names) +
         "; headscope help lists them");
}

/// Regenerates the tables. With `check`, writes nothing and fails if a chapter's tables are outdated.
int renewTables(const std::vector<Chapter>& manual, const Program& program, bool check) {
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
    } else {
      orFail(attention::writeFile(path, *text));
    }
  }
  return exitCode;
}

int writeManPages(const Program& program, const std::filesystem::path& folder) {
  for (const auto& [name, text] : manPages(program)) orFail(attention::writeFile(folder / name, text));
  return kExitDone;
}

}  // namespace

Command helpCommand(const Program& program) {
  const auto o = std::make_shared<HelpOptions>();
  Command command{"help", "Print a chapter of the manual, or a command's options"};
  command.options = {
      Option("TOPIC", "A chapter, such as cache, or a command; without it, the list", &o->topic),
      Option("--update", "Rewrite the manual's tables from the program's own", &o->update),
      Option("--check", "Say which of the manual's tables differ from the program's", &o->check),
      Option("--man FOLDER", "Write a man page for each command into this folder", &o->man, kFileName),
      Option("--completion", "Print the completion script of a shell: bash, zsh or fish", &o->shell,
             {.words = wordsOf(kShells)})};
  command.run = [o, &program] {
    if (!o->man.empty()) return writeManPages(program, o->man);
    if (!o->shell.empty()) return print(completionScript(program, o->shell));
    const auto manual = orFail(readManual());
    if (o->update || o->check) return renewTables(manual, program, o->check);
    return o->topic.empty() ? listTopics(manual) : printTopic(manual, program, o->topic);
  };
  return command;
}

}  // namespace headscope::app
