#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace headscope::app {

/// Returns a table of the manual, generated from the program, as Markdown: "fields", "patterns", "detectors",
/// "names", "commands" (of `program`), "keys" or "settings". Throws std::invalid_argument for another name,
/// and std::runtime_error if the window whose keys are listed can't be drawn.
std::string manualTable(std::string_view name, const CLI::App& program);

}  // namespace headscope::app
