#pragma once

#include <string>
#include <vector>

#include "app/widgets/plot.h"

namespace headscope::app {

/// A plot of the cost page with its words: the finding as a title, and what is counted below it.
struct CostPlot {
  std::string title, unit;
  Plot plot;
  std::vector<std::string> notes;
};

}  // namespace headscope::app
