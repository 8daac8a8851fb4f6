#include "app/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/commands/commands.h"
#include "attention/text/ascii.h"

namespace headscope::app {

namespace {

/// Reads "464,3290,318"; throws for anything else.
void readNumbers(const std::string& option, std::string_view list, std::vector<Index>& numbers) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view word = list.substr(begin, end - begin);
    Index number = 0;
    const auto [after, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (fault != std::errc() || after != word.data() + word.size() || number < 0)
      throw CLI::ValidationError(option + " has " + attention::quotedText(word) +
                                 ", expected whole numbers with commas between them, as 464,3290,318");
    numbers.push_back(number);
    begin = end + 1;
  }
}

CLI::Option* addNamed(CLI::App& app, const Option& option) {
  return std::visit(
      [&](auto* target) {
        using Value = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Value, bool>) {
          return app.add_flag(option.names, *target, option.help);
        } else if constexpr (std::is_same_v<Value, std::vector<Index>>) {
          const auto take = [name = option.names, target](const std::vector<std::string>& lists) {
            for (const std::string& list : lists) readNumbers(name, list, *target);
          };
          return app.add_option_function<std::vector<std::string>>(option.names, take, option.help)
              ->type_name("INT,…")
              ->allow_extra_args(false);
        } else {
          if constexpr (std::is_same_v<Value, std::string>)
            if (option.rules.isSwitch) return app.add_flag(option.names, *target, option.help);
          return app.add_option(option.names, *target, option.help);
        }
      },
      option.target);
}

void addOptions(CLI::App& app, const Command& command) {
  for (const Option& each : command.options) {
    CLI::Option* const option = addNamed(app, each);
    const OptionRules& rules = each.rules;
    option->required(rules.required);
    if (!each.value.empty() || rules.isSwitch) option->type_name(each.value);
    if (rules.check) option->check(rules.check);
    if (!rules.words.empty()) option->check(CLI::IsMember(rules.words));
    if (rules.commas) option->delimiter(',');
    if (rules.most > 0) option->expected(1, rules.most);
    if (rules.shown) option->capture_default_str();
    if (rules.isOldName) option->group("");
  }
  app.footer(command.footer);
}

/// "; did you mean --window?" for an option that the command doesn't have.
std::string meantOption(const CLI::App& app, const CLI::Error& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return "";
  const std::string message = error.what();
  const std::size_t begin = message.find(" --");
  if (begin == std::string::npos) return "";
  const std::string word = message.substr(begin + 1, message.find_first_of(" =", begin + 1) - begin - 1);
  std::vector<std::string> options;
  const std::vector<CLI::App*> chosen = app.get_subcommands();  // at most one
  for (const CLI::Option* option : (chosen.empty() ? app : *chosen.front()).get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  return attention::suggestion(word, std::vector<std::string_view>(options.begin(), options.end()));
}

std::unique_ptr<CLI::App> parserOf(const Program& program) {
  auto app = std::make_unique<CLI::App>(program.own.help, program.own.name);
  app->set_version_flag("--version", program.own.name + " " + program.version);
  app->allow_windows_style_options(false);  // "/tmp/a.json" is a path
  app->require_subcommand(0, 1);
  app->fallthrough(false);
  addOptions(*app, program.own);
  for (const Command& command : program.commands)
    addOptions(*app->add_subcommand(command.name, command.help), command);
  app->failure_message([app = app.get()](const CLI::App*, const CLI::Error& error) {
    return "headscope: " + printable(error.what()) + meantOption(*app, error) + "\n";
  });
  return app;
}

/// Runs a command. An exception (no OpenGL, no memory) becomes one sentence and exit code 1.
int guarded(const std::function<int()>& run) {
  try {
    return run();
  } catch (const CommandEnd& end) {
    warn(end.message);
    return end.exitCode;
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

}  // namespace

Option::Option(const std::string& named, std::string text, OptionTarget to, OptionRules ruled)
    : names(named.substr(0, named.find(' '))),
      value(names.size() < named.size() ? named.substr(names.size() + 1) : ""),
      help(std::move(text)),
      target(to),
      rules(std::move(ruled)) {}

std::vector<std::string> namesOf(const Option& option) {
  return CLI::detail::split(option.names, ',');
}

bool isArgument(const Option& option) {
  return !option.names.starts_with('-');
}

std::string valueName(const Option& option) {
  if (isArgument(option)) return option.names;
  if (std::holds_alternative<bool*>(option.target) || option.rules.isSwitch) return "";
  if (!option.rules.words.empty()) return "WORD";
  if (!option.value.empty()) return option.value;
  return std::visit(
      [](auto* target) -> std::string {
        using Value = std::remove_pointer_t<decltype(target)>;
        return std::is_same_v<Value, std::vector<Index>> ? "INT,…" : CLI::detail::type_name<Value>();
      },
      option.target);
}

int runCommandLine(const Program& program, int argc, const char* const* argv) {
  const auto app = parserOf(program);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and the version arrive as exceptions too.
    if (app->exit(error) != 0) return kExitUsage;
    return std::cout.flush() ? kExitDone : fail({"standard output can't be written"});
  }
  const auto chosen = app->get_subcommands();
  if (chosen.empty()) return guarded(program.own.run);
  return guarded([&] {
    const std::string name = chosen.front()->get_name();
    for (const CLI::Option* option : app->get_options())
      if (option->get_positional() && option->count() > 0)  // it would be ignored silently
        refuse("\"" + option->results().front() + "\" is before the command " + name + ", expected after it");
    return std::find_if(program.commands.begin(), program.commands.end(),
                        [&](const Command& each) { return each.name == name; })
        ->run();
  });
}

std::string commandHelp(const Program& program, const std::string& command) {
  return parserOf(program)->get_subcommand(command)->help();
}

}  // namespace headscope::app
