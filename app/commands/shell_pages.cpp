#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "app/commands/command_line.h"
#include "attention/core/result.h"

namespace headscope::app {

namespace {

/// What help lists: the options that every command has, then the command's.
std::vector<Option> listedOptions(const Program& program, const Command& command) {
  bool* const handled = nullptr;  // by the parser
  std::vector<Option> options{{"-h,--help", "Print this help message and exit", handled}};
  if (&command == &program.own)
    options.emplace_back("--version", "Display program version information and exit", handled);
  for (const Option& option : command.options)
    if (!option.rules.isOldName) options.push_back(option);
  return options;
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

std::string optionLines(const std::vector<Option>& options) {
  std::string out;
  for (const Option& option : options) {
    std::string line;
    for (const std::string& name : namesOf(option))
      line += (line.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
    const std::string value = "\\fI" + roff(valueName(option)) + "\\fR";
    if (isArgument(option))
      line = value;
    else if (!valueName(option).empty())
      line += " " + value;
    const auto& words = option.rules.words;
    out += ".TP\n" + line + "\n" + roff(option.help) + ".\n";
    if (!words.empty() && option.help.find(words.front()) == std::string::npos)
      out += "One of " + roff(joined(words, ", ")) + ".\n";
  }
  return out;
}

/// The page of a command, or the program's own, up to its options.
std::string pageStart(const Program& program, const Command& command, const std::string& name,
                      const std::string& synopsis) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(
      ".TH {} 1 \"\" Headscope \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B headscope{}\n.SH "
      "OPTIONS\n{}",
      roff(upper), roff(name), roff(command.help), synopsis, optionLines(listedOptions(program, command)));
}

constexpr const char* kExitStatus =
    ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 3 a model that does not fit the device of cost.\n"
    ".SH SEE ALSO\n";

std::string programPage(const Program& program) {
  std::string page = pageStart(program, program.own, "headscope",
                               "\n[\\fISCENE\\fR]\n.br\n.B headscope\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
                               ".SH DESCRIPTION\nWithout a command, Headscope opens its window.");
  std::string others;
  page += ".SH COMMANDS\n";
  for (const Command& command : program.commands) {
    page += ".TP\n\\fB" + roff(command.name) + "\\fR\n" + roff(command.help) + ".\n";
    others += (others.empty() ? ".BR " : ",\n.BR ") + roff("headscope-" + command.name) + " (1)";
  }
  page +=
      ".SH ENVIRONMENT\n.TP\n\\fBHEADSCOPE_ASSETS\\fR\nThe folder of the assets, if they are elsewhere.\n"
      ".TP\n\\fBHEADSCOPE_THREADS\\fR\nHow many threads compute.\n"
      ".TP\n\\fBHEADSCOPE_TARGET\\fR\nThe newest instruction set that the kernels use.\n";
  return page + kExitStatus + others + "\n.PP\n\\fBheadscope help\\fR lists the chapters of the manual.\n";
}

std::string commandPage(const Program& program, const Command& command) {
  std::string synopsis = " " + roff(command.name) + "\n[\\fIOPTIONS\\fR]";
  for (const Option& option : command.options)
    if (isArgument(option)) {
      const std::string name = "\\fI" + roff(option.names) + "\\fR";
      synopsis += option.rules.required ? " " + name : " [" + name + "]";
    }
  return pageStart(program, command, "headscope-" + command.name, synopsis) + kExitStatus +
         ".BR headscope (1)\n";
}

// Completion

/// Quotes text for a shell: 'it'\''s'.
std::string shellQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string bashScript(const Program& program) {
  std::string names, cases;
  const auto add = [&](const Command& command, const std::string& name) {
    std::string all, values;
    for (const Option& option : listedOptions(program, command)) {
      if (isArgument(option)) continue;
      all += (all.empty() ? "" : " ") + joined(namesOf(option), " ");
      if (!option.rules.words.empty())
        values += fmt::format("        {}) words={} ;;\n", joined(namesOf(option), " | "),
                              shellQuoted(joined(option.rules.words, " ")));
    }
    cases += fmt::format("    {})\n      words={}\n", name,
                         shellQuoted(&command == &program.own ? names + " " + all : all));
    if (!values.empty()) cases += "      case $before in\n" + values + "      esac\n";
    cases += "      ;;\n";
  };
  for (const Command& command : program.commands) names += (names.empty() ? "" : " ") + command.name;
  add(program.own, "''");
  for (const Command& command : program.commands) add(command, command.name);
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

std::string zshArguments(const Program& program, const Command& command) {
  std::string out = "_arguments";
  for (const Option& option : listedOptions(program, command)) {
    const auto& words = option.rules.words;
    const std::string name = valueName(option);
    const std::string action = words.empty() ? "_files" : "(" + joined(words, " ") + ")";
    const std::string value = name.empty() ? "" : ":" + zshText(name) + ":" + action;
    for (const std::string& each : namesOf(option))
      out += " \\\n        " +
             shellQuoted(isArgument(option) ? "*" + value : each + "[" + zshText(option.help) + "]" + value);
  }
  return out + "\n";
}

std::string zshScript(const Program& program) {
  std::string names, cases;
  for (const Command& command : program.commands) {
    names += "    " + shellQuoted(command.name + ":" + zshText(command.help)) + "\n";
    cases += "    " + command.name + ")\n      " + zshArguments(program, command) + "      ;;\n";
  }
  return "#compdef headscope\nlocal -a commands=(\n" + names +
         ")\nif ((CURRENT == 2)); then\n  _describe -t commands command commands\n  " +
         zshArguments(program, program.own) +
         "else\n  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n" + cases +
         "    *) _files ;;\n  esac\nfi\n";
}

std::string fishLines(const Program& program, const Command& command, const std::string& when) {
  std::string out;
  for (const Option& option : listedOptions(program, command)) {
    if (isArgument(option)) continue;
    std::string line = "complete -c headscope -n " + shellQuoted(when);
    for (const std::string& name : namesOf(option))
      line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.rules.words.empty())
      line += " -x -a " + shellQuoted(joined(option.rules.words, " "));
    else if (!valueName(option).empty())
      line += " -r";
    out += line + " -d " + shellQuoted(option.help) + "\n";
  }
  return out;
}

std::string fishScript(const Program& program) {
  constexpr const char* kFirst = "__fish_use_subcommand";
  std::string out = "# fish completion of headscope\n" + fishLines(program, program.own, kFirst);
  for (const Command& command : program.commands)
    out += fmt::format("complete -c headscope -n {} -a {} -d {}\n", shellQuoted(kFirst), command.name,
                       shellQuoted(command.help)) +
           fishLines(program, command, "__fish_seen_subcommand_from " + command.name);
  return out;
}

}  // namespace

std::map<std::string, std::string> manPages(const Program& program) {
  std::map<std::string, std::string> pages{{"headscope.1", programPage(program)}};
  for (const Command& command : program.commands)
    pages["headscope-" + command.name + ".1"] = commandPage(program, command);
  return pages;
}

std::string completionScript(const Program& program, std::string_view shell) {
  if (shell == "bash") return bashScript(program);
  if (shell == "zsh") return zshScript(program);
  attention::require(shell == "fish", "a shell is " + std::string(shell) + ", expected bash, zsh or fish");
  return fishScript(program);
}

}  // namespace headscope::app
