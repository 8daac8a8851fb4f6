#pragma once

#include <string>
#include <vector>

#include "app/compute/cost/cost_figures.h"
#include "app/compute/plots/plot_data.h"

namespace headscope::app {

/// A plot of the cost page with its texts: the finding as a title, the unit, and notes on what is counted.
struct CostPlot {
  std::string title, unit;
  Plot plot;
  std::vector<std::string> notes;
};

/// Bytes of the cache, or of n² matrices, by tokens, as the scene says.
CostPlot memoryPlot(const CostSetup& setup, const CostFigures& figures, const CostCatalogue& catalogue);
/// Operations of a prefill or of a decode step, by tokens.
CostPlot workPlot(const CostSetup& setup, const CostFigures& figures);
/// Operations per second by operations per byte: prefill and decode on the machine's roofline (Williams et
/// al. 2009).
CostPlot rooflinePlot(const CostFigures& figures);

}  // namespace headscope::app
