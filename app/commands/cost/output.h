#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/compute/cost/cost_figures.h"

namespace headscope::app {

/// Everything `headscope cost` prints: the figures of the Cost page, with warnings about them.
struct CostReport {
  CostFigures figures;
  std::vector<std::string> warnings;
  std::array<GpuChoice, 5> gpus = {};
};

CostReport costReport(CostFigures figures, const CostCatalogue& catalogue);

std::string costTable(const CostReport& report);
std::string costJson(const CostReport& report);
std::string listTable(const CostCatalogue& catalogue);
std::string listJson(const CostCatalogue& catalogue);
/// Formats the table of named machines.
std::string machineTable(const CostCatalogue& catalogue);

}  // namespace headscope::app
