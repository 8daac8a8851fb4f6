#include "app/commands/manual_tables.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "app/commands/mask_report.h"
#include "app/headless.h"
#include "app/scene/fields.h"
#include "app/scene/lessons/lesson_names.h"
#include "app/shell/stage_overlay.h"
#include "attention/heads/detectors.h"
#include "attention/masks/pattern.h"

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

}  // namespace headscope::app
