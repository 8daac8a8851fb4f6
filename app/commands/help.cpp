#include <filesystem>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/manual_tables.h"
#include "app/commands/report.h"
#include "app/commands/shell_pages.h"
#include "app/platform/assets.h"
#include "app/scene/text/manual.h"
#include "attention/formats/files/file_io.h"
#include "attention/text/suggestion.h"

namespace headscope::app {

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
