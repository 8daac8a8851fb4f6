#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/compute/cost/cost_figures.h"

namespace headscope::app {

/// Everything `headscope cost` says: the page's figures, and what to know about them.
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
/// The machines that have names.
std::string machineTable(const CostCatalogue& catalogue);

}  // namespace headscope::app
