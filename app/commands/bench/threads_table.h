#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/commands/bench/bench.h"

namespace headscope::app {

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
