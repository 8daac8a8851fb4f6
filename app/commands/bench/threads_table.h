#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/commands/bench/bench.h"

namespace headscope::app {

/// One kind of work on some threads, medians over the rounds.
struct ThreadsRow {
  std::string name;
  int threads = 1;
  double seconds = 0;
  double speedUp = 1;              ///< over one thread, of the same round
  double share = 0;                ///< of what so many threads can do at the most
  double idlest = 0, busiest = 0;  ///< share of the time that a thread works on tasks; 0 of one thread
  double barriers = 0;             ///< times that all threads wait for the last one
  double efficiency() const { return speedUp / threads; }
};

struct ThreadsTable {
  std::string title;  ///< what was measured, in a line
  std::vector<ThreadsRow> rows;
};

/// Forward pass, decode step and exact overview of `parts`, and the machine's ceilings, on 1, 2, 4 … threads,
/// up to as many as the kernels use when it begins. `tell` gets a sentence before each round.
ThreadsTable measureThreads(const BenchShape& shape, const BenchParts& parts, int rounds,
                            const std::function<void(const std::string&)>& tell);

/// In Markdown.
std::string threadsText(const ThreadsTable& table);

}  // namespace headscope::app
