#pragma once

#include <map>
#include <string>
#include <string_view>

#include "app/commands/command_line.h"
#include "attention/masks/compile.h"

namespace headscope::app {

// Man pages and shell completions, generated from the commands themselves.

/// Returns the man pages of section 1, for `program` and for each command, by file name:
/// "headscope-render.1".
std::map<std::string, std::string> manPages(const Program& program);

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};
/// Returns the script with which a shell, one of kShells, completes commands, options, and values if there
/// are only a few. Throws std::invalid_argument for another shell.
std::string completionScript(const Program& program, std::string_view shell);

/// Everything `headscope mask` prints about a mask: its text, omitted layers, and for every group of heads
/// with the same mask (only `head`'s if given) formula, density, empty rows, unseen keys, future pairs and
/// blocks. If `cacheGiven` is false and queries and keys differ in number, also the first query's position.
std::string maskReport(const attention::MaskLayers& layers, const attention::MaskGeometry& geometry,
                       const attention::MaskFormula& mask, std::optional<attention::Index> head,
                       bool cacheGiven);

/// "size: 1 to 1073741824, default 128; keys that are seen".
std::string parameterText(const attention::ParameterInfo& parameter);

/// Lists all patterns with their formulas, parameters and limits.
std::string patternList();

}  // namespace headscope::app
