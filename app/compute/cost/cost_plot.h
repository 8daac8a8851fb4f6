#pragma once

#include <string>
#include <vector>

#include "app/compute/cost/cost_figures.h"
#include "app/compute/plots/plot_data.h"

namespace headscope::app {

/// A plot of the cost page with its words: the finding as a title, and what is counted below it.
struct CostPlot {
  std::string title, unit;
  Plot plot;
  std::vector<std::string> notes;
};

/// Over the tokens: bytes of the cache, or of n² matrices, as the scene says.
CostPlot memoryPlot(const CostSetup& setup, const CostFigures& figures, const CostCatalogue& catalogue);
/// Over the tokens: operations of a prefill or of a decode step.
CostPlot workPlot(const CostSetup& setup, const CostFigures& figures);
/// Operations a second over operations a byte: where prefill and decode are on the machine's roofline
/// (Williams et al. 2009).
CostPlot rooflinePlot(const CostFigures& figures);

}  // namespace headscope::app
