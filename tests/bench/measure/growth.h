#pragma once

#include "app/compute/figures/drawing.h"
#include "app/compute/plots/plot_data.h"
#include "tests/bench/measure/bench.h"

namespace headscope::app {

/// How the cost of one kind of work grows.
struct GrowthLine {
  std::string name;                ///< "forward"
  std::vector<PlotPoint> seconds;  ///< by tokens or heads, ascending
  std::vector<PlotPoint> bytes;    ///< held at once, by definition; empty = not counted
  double most = 0;                 ///< theoretical exponent of the time
};

/// Time and memory of a layer of width 512 with causal heads of size 64.
struct Growth {
  std::vector<GrowthLine> tokens;  ///< with 8 heads
  std::vector<GrowthLine> heads;   ///< with 1 to 64 heads, at `headTokens` tokens
  attention::Index headTokens = 512;
  std::string omitted;  ///< why frames were not measured, one sentence; "" if they were
};

/// The slope of ln y over ln x by least squares. Uses only the upper half of the x range on a logarithmic
/// scale, where constant costs no longer matter. Returns 0 if fewer than three points lie there.
double fittedExponent(const std::vector<PlotPoint>& points);

/// Measures 16 to `maxTokens` tokens, doubling each time. A line ends where its memory would exceed
/// `maxBytes`, or after a run longer than 15 seconds. Calls `tell` with a sentence before each measurement.
Growth measureGrowth(attention::Index maxTokens, const BenchParts& parts, double maxBytes,
                     const std::function<void(const std::string&)>& announce);

/// Formats a Markdown table with the exponents.
std::string growthTable(const Growth& growth);
/// Plots time and memory over tokens, and time over heads, on logarithmic axes; labels lines with exponents.
Drawing growthFigure(const Growth& growth);

/// One kind of work on a number of threads; medians over the rounds.
struct ThreadsRow {
  std::string name;
  int threads = 1;
  double seconds = 0;
  double speedUp = 1;              ///< relative to one thread in the same round
  double share = 0;                ///< of what this many threads can do at most
  double idlest = 0, busiest = 0;  ///< share of the time that a thread works on tasks; 0 with one thread
  double barriers = 0;             ///< how often all threads wait for the last one
  double efficiency() const { return speedUp / threads; }
};

struct ThreadsTable {
  std::string title;  ///< what was measured, in one line
  std::vector<ThreadsRow> rows;
};

/// Measures the forward pass, decode step and exact overview of `parts`, and the machine's ceilings, on 1, 2,
/// 4 … threads, up to the kernels' current number. Calls `tell` with a sentence before each round.
ThreadsTable measureThreads(const BenchShape& shape, const BenchParts& parts, int rounds,
                            const std::function<void(const std::string&)>& announce);

/// Formats the table as Markdown.
std::string threadsText(const ThreadsTable& table);

}  // namespace headscope::app
