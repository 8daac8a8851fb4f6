#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app {

// The command line as data: what it reads, and what help, man pages and completions say about it.

/// Where an option's value goes. A bool is a switch; a list takes several values; an optional stays empty
/// unless the option is given. Lists of numbers are written with commas.
using OptionTarget =
    std::variant<bool*, int*, attention::Index*, std::uint64_t*, double*, std::string*,
                 std::optional<attention::Index>*, std::optional<double>*, std::optional<std::string>*,
                 std::vector<attention::Index>*, std::vector<std::string>*>;

/// What a value has to be, and how help shows it.
struct OptionRules {
  std::vector<std::string> words = {};                        ///< the values there are; empty for any
  std::function<std::string(const std::string&)> check = {};  ///< returns what is wrong, or ""
  bool required = false;
  bool shown = false;      ///< help shows the default
  bool commas = false;     ///< each value may be several, with commas between them
  int most = 0;            ///< the most values after the name; 0 for any number
  bool isSwitch = false;   ///< a text that may be left out: --causal means --causal=true
  bool isOldName = false;  ///< accepted, but shown nowhere
};

struct Option {
  /// `named` has the names, and after a space what help calls the value: "-o,--output FILE". One without
  /// dashes is an argument: "SCENE".
  Option(const std::string& named, std::string text, OptionTarget to, OptionRules ruled = {});

  std::string names, value, help;
  OptionTarget target;
  OptionRules rules;
};

struct Command {
  std::string name, help;
  std::vector<Option> options = {};
  std::function<int()> run = {};  ///< returns the exit code
  std::string footer = {};        ///< below the options in help
};

struct Program {
  Command own;  ///< without a command
  std::string version;
  std::vector<Command> commands;
};

/// "-o" and "--output"; of an argument its name.
std::vector<std::string> namesOf(const Option& option);
/// What help calls the value: "FILE"; "" for a switch.
std::string valueName(const Option& option);
bool isArgument(const Option& option);

/// Parses the command line and runs the command. Returns its exit code, or that of wrong usage.
int runCommandLine(const Program& program, int argc, const char* const* argv);

/// What `headscope COMMAND --help` prints.
std::string commandHelp(const Program& program, const std::string& command);

/// Returns the man pages of section 1, for the program and for each command, by file name:
/// "headscope-render.1".
std::map<std::string, std::string> manPages(const Program& program);

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};
/// Returns the script with which a shell, one of kShells, completes commands, options, and values if there
/// are only a few. Throws std::invalid_argument for another shell.
std::string completionScript(const Program& program, std::string_view shell);

}  // namespace headscope::app
