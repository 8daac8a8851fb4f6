#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/commands/bench/bench.h"
#include "app/compute/figures/drawing.h"
#include "app/compute/plots/plot_data.h"
#include "attention/core/tensor.h"

namespace headscope::app {

/// How one kind of work grows.
struct GrowthLine {
  std::string name;                ///< "forward"
  std::vector<PlotPoint> seconds;  ///< by tokens or heads, ascending
  std::vector<PlotPoint> bytes;    ///< that it holds at once, by definition; none: not counted
  double most = 0;                 ///< exponent of its mathematics, in time
};

/// Time and memory of a layer 512 wide with causal heads of 64.
struct Growth {
  std::vector<GrowthLine> tokens;  ///< with 8 heads
  std::vector<GrowthLine> heads;   ///< of 1 to 64, at `headTokens` tokens
  attention::Index headTokens = 512;
  std::string omitted;  ///< why frames were not measured, one sentence; "" where they were
};

/// The slope of ln y over ln x by least squares, over the upper half of the x on a logarithmic scale, where
/// what doesn't grow no longer counts; 0 of fewer than three points there.
double fittedExponent(const std::vector<PlotPoint>& points);

/// From 16 to `mostTokens` tokens, in doublings. A line ends where its memory would not fit `mostBytes`, or
/// after what took longer than 15 seconds. `tell` gets a sentence before each measurement.
Growth measureGrowth(attention::Index mostTokens, const BenchParts& parts, double mostBytes,
                     const std::function<void(const std::string&)>& tell);

/// A table with the exponents, in Markdown.
std::string growthTable(const Growth& growth);
/// Time and memory over tokens, and time over heads, all logarithmic; each line with its exponent.
Drawing growthFigure(const Growth& growth);

}  // namespace headscope::app
