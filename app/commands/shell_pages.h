#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>

namespace headscope::app {

// What a system's `man` and shells know of the commands, made from the commands themselves.

/// A page of the manual's section 1 for `program` and one for each command, by file name:
/// "headscope-render.1".
std::map<std::string, std::string> manPages(const CLI::App& program);

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};
/// The script by which a shell, one of kShells, completes commands, options, and values of which there are
/// few.
std::string completionScript(const CLI::App& program, std::string_view shell);

}  // namespace headscope::app
