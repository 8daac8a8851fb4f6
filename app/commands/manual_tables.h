#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace headscope::app {

/// The tables of the manual that are made from the program's own: "fields", "patterns", "detectors", "names",
/// "commands" (of `program`) and "keys", as Markdown. Throws std::invalid_argument for another name, and
/// std::runtime_error where the keys' window can't be drawn.
std::string manualTable(std::string_view name, const CLI::App& program);

}  // namespace headscope::app
