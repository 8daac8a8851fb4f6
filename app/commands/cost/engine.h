#pragma once

#include <optional>
#include <string>

#include "app/commands/cost/output.h"

namespace headscope::app {

/// The lines that `headscope cost --engine llama.cpp` adds.
std::string engineTable(const CostReport& report);
/// The value of "llama_cpp", a JSON object.
std::string engineJson(const CostReport& report);

/// Which models fit where: a line for each machine, and for each format of the weights the longest context at
/// this batch, with the most tokens per second at the asked context.
std::string fitsTable(const CostFigures& figures, const CostCatalogue& catalogue);
/// The same as a JSON list.
std::string fitsJson(const CostFigures& figures, const CostCatalogue& catalogue);

}  // namespace headscope::app
