#include <fmt/core.h>

#include <cctype>

#include "app/commands/help.h"

namespace headscope::app {

namespace {

/// An option or argument, as shells and man pages name it.
struct Word {
  std::vector<std::string> names;  ///< "-o", "--output"; empty for an argument
  std::string argument;            ///< "SCENE", or an option's value: "FILE"; "" for a switch
  std::vector<std::string> choices;
  std::string help;
};

/// Returns the values in "TEXT:{dark,light}", which is how CLI11 writes an option that takes one of them.
std::vector<std::string> choicesIn(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find('{'), close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return choices;
  for (std::size_t from = open + 1; from <= close;) {
    const std::size_t to = std::min(type.find(',', from), close);
    choices.push_back(type.substr(from, to - from));
    from = to + 1;
  }
  return choices;
}

std::vector<Word> wordsOf(const CLI::App& command) {
  std::vector<Word> words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // an old name
    const std::string type = option->get_type_name();
    Word word{{}, {}, choicesIn(type), option->get_description()};
    for (const std::string& name : option->get_snames()) word.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) word.names.push_back("--" + name);
    if (option->get_positional())
      word.argument = option->get_name(true, false);
    else if (option->get_items_expected_max() > 0)
      word.argument = word.choices.empty() ? type.substr(0, type.find_first_of(":{")) : "WORD";
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<const CLI::App*> commandsOf(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App*) { return true; });
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

// man

/// Escapes everything that roff would take as a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string optionLines(const std::vector<Word>& words) {
  std::string out;
  for (const Word& word : words) {
    std::vector<std::string> names;
    for (const std::string& name : word.names) names.push_back("\\fB" + roff(name) + "\\fR");
    std::string line = joined(names, ", ");
    if (!word.argument.empty()) line += (line.empty() ? "\\fI" : " \\fI") + roff(word.argument) + "\\fR";
    out += ".TP\n" + line + "\n" + roff(word.help) + ".\n";
    if (!word.choices.empty() && word.help.find(word.choices.front()) == std::string::npos)
      out += "One of " + roff(joined(word.choices, ", ")) + ".\n";
  }
  return out;
}

std::string pageHead(const std::string& name, const std::string& summary) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH {} 1 \"\" Headscope \"User Commands\"\n.SH NAME\n{} \\- {}\n", roff(upper),
                     roff(name), roff(summary));
}

constexpr const char* kExitStatus =
    ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 3 a model that does not fit the device of cost.\n";

std::string programPage(const CLI::App& program) {
  std::string page = pageHead("headscope", program.get_description());
  page +=
      ".SH SYNOPSIS\n.B headscope\n[\\fISCENE\\fR]\n.br\n.B headscope\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  page += ".SH DESCRIPTION\nWithout a command, Headscope opens its window.\n";
  page += ".SH OPTIONS\n" + optionLines(wordsOf(program)) + ".SH COMMANDS\n";
  for (const CLI::App* command : commandsOf(program))
    page += ".TP\n\\fB" + roff(command->get_name()) + "\\fR\n" + roff(command->get_description()) + ".\n";
  page +=
      ".SH ENVIRONMENT\n.TP\n\\fBHEADSCOPE_ASSETS\\fR\nThe folder of the assets, if they are elsewhere.\n";
  page += ".TP\n\\fBHEADSCOPE_THREADS\\fR\nHow many threads compute.\n";
  page += ".TP\n\\fBHEADSCOPE_TARGET\\fR\nThe newest instruction set that the kernels use.\n";
  page += kExitStatus + std::string(".SH SEE ALSO\n");
  for (const CLI::App* command : commandsOf(program)) {
    const bool last = command == commandsOf(program).back();
    page += ".BR " + roff("headscope-" + command->get_name()) + " (1)" + (last ? "\n" : ",\n");
  }
  return page + ".PP\n\\fBheadscope help\\fR lists the chapters of the manual.\n";
}

std::string commandPage(const CLI::App& command) {
  const std::string name = "headscope-" + command.get_name();
  std::string page = pageHead(name, command.get_description());
  page += ".SH SYNOPSIS\n.B headscope " + roff(command.get_name()) + "\n[\\fIOPTIONS\\fR]";
  for (const Word& word : wordsOf(command))
    if (word.names.empty()) page += " [\\fI" + roff(word.argument) + "\\fR]";
  page += "\n.SH OPTIONS\n" + optionLines(wordsOf(command)) + kExitStatus;
  return page + ".SH SEE ALSO\n.BR headscope (1)\n";
}

// Completion

/// Quotes text for a shell: 'it'\''s'.
std::string shellQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string bashScript(const CLI::App& program) {
  std::string names, cases;
  const auto add = [&](const CLI::App& command) {
    std::string all, values;
    for (const Word& word : wordsOf(command)) {
      for (const std::string& name : word.names) all += (all.empty() ? "" : " ") + name;
      if (!word.choices.empty() && !word.names.empty())
        values += fmt::format("        {}) words={} ;;\n", joined(word.names, " | "),
                              shellQuoted(joined(word.choices, " ")));
    }
    const std::string name = &command == &program ? "''" : command.get_name();
    cases += fmt::format("    {})\n      words={}\n", name,
                         shellQuoted(&command == &program ? names + " " + all : all));
    if (!values.empty()) cases += "      case $before in\n" + values + "      esac\n";
    cases += "      ;;\n";
  };
  for (const CLI::App* command : commandsOf(program))
    names += (names.empty() ? "" : " ") + command->get_name();
  add(program);
  for (const CLI::App* command : commandsOf(program)) add(*command);
  return "# bash completion of headscope\n_headscope() {\n"
         "  local command= words= current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}\n  case $command in\n" +
         cases +
         "  esac\n  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n"
         "complete -o default -F _headscope headscope\n";
}

/// Escapes a description for zsh's brackets.
std::string zshText(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string zshArguments(const CLI::App& command) {
  std::string out = "_arguments";
  for (const Word& word : wordsOf(command)) {
    const std::string action = word.choices.empty() ? "_files" : "(" + joined(word.choices, " ") + ")";
    const std::string value = word.argument.empty() ? "" : ":" + zshText(word.argument) + ":" + action;
    if (word.names.empty()) out += " \\\n        " + shellQuoted("*" + value);
    for (const std::string& name : word.names)
      out += " \\\n        " + shellQuoted(name + "[" + zshText(word.help) + "]" + value);
  }
  return out + "\n";
}

std::string zshScript(const CLI::App& program) {
  std::string names, cases;
  for (const CLI::App* command : commandsOf(program)) {
    names += "    " + shellQuoted(command->get_name() + ":" + zshText(command->get_description())) + "\n";
    cases += "    " + command->get_name() + ")\n      " + zshArguments(*command) + "      ;;\n";
  }
  return "#compdef headscope\nlocal -a commands=(\n" + names +
         ")\nif ((CURRENT == 2)); then\n  _describe -t commands command commands\n  " +
         zshArguments(program) +
         "else\n  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n" + cases +
         "    *) _files ;;\n  esac\nfi\n";
}

std::string fishLines(const CLI::App& command, const std::string& when) {
  std::string out;
  for (const Word& word : wordsOf(command)) {
    if (word.names.empty()) continue;
    std::string line = "complete -c headscope -n " + shellQuoted(when);
    for (const std::string& name : word.names)
      line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!word.choices.empty())
      line += " -x -a " + shellQuoted(joined(word.choices, " "));
    else if (!word.argument.empty())
      line += " -r";
    out += line + " -d " + shellQuoted(word.help) + "\n";
  }
  return out;
}

std::string fishScript(const CLI::App& program) {
  constexpr const char* kFirst = "__fish_use_subcommand";
  std::string out = "# fish completion of headscope\n" + fishLines(program, kFirst);
  for (const CLI::App* command : commandsOf(program)) {
    out += fmt::format("complete -c headscope -n {} -a {} -d {}\n", shellQuoted(kFirst), command->get_name(),
                       shellQuoted(command->get_description()));
    out += fishLines(*command, "__fish_seen_subcommand_from " + command->get_name());
  }
  return out;
}

}  // namespace

std::map<std::string, std::string> manPages(const CLI::App& program) {
  std::map<std::string, std::string> pages{{"headscope.1", programPage(program)}};
  for (const CLI::App* command : commandsOf(program))
    pages["headscope-" + command->get_name() + ".1"] = commandPage(*command);
  return pages;
}

std::string completionScript(const CLI::App& program, std::string_view shell) {
  if (shell == "bash") return bashScript(program);
  if (shell == "zsh") return zshScript(program);
  attention::require(shell == "fish", "a shell is " + std::string(shell) + ", expected bash, zsh or fish");
  return fishScript(program);
}

}  // namespace headscope::app
