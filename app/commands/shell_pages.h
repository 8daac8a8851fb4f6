#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>

namespace headscope::app {

// Man pages and shell completions, generated from the commands themselves.

/// Returns the man pages of section 1, for `program` and for each command, by file name:
/// "headscope-render.1".
std::map<std::string, std::string> manPages(const CLI::App& program);

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};
/// Returns the script with which a shell, one of kShells, completes commands, options, and values if there
/// are only a few. Throws std::invalid_argument for another shell.
std::string completionScript(const CLI::App& program, std::string_view shell);

}  // namespace headscope::app
