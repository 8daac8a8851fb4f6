#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/cost/cost_figures.h"
#include "attention/cache/llama_cpp.h"

namespace headscope::app {

/// What llama.cpp would allocate and reach.
struct LlamaCppReport {
  attention::LlamaCppSettings settings;
  attention::LlamaCppMemory memory;
  attention::Offloading split;
};

/// Everything `headscope cost` prints: the figures of the Cost page, with warnings about them.
struct CostReport {
  CostFigures figures;
  std::vector<std::string> warnings;
  std::array<GpuChoice, 5> gpus = {};
  std::optional<LlamaCppReport> engine = {};
};

/// "full", "window", …: a kind of layer's name in files.
std::string_view kindName(attention::CacheKind kind);
CostReport costReport(CostFigures figures, const CostCatalogue& catalogue);

std::string costTable(const CostReport& report);
std::string costJson(const CostReport& report);
std::string listTable(const CostCatalogue& catalogue);
std::string listJson(const CostCatalogue& catalogue);
/// Formats the table of named machines.
std::string machineTable(const CostCatalogue& catalogue);

}  // namespace headscope::app
