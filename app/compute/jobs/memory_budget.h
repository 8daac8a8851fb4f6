#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "attention/models/model.h"

namespace headscope::app {

struct Limits {
  std::uint64_t memoryBytes = 0;
};
/// Returns half of the machine's memory, at most 6 GiB.
Limits defaultLimits();

/// Memory counted as in use until the last copy is destroyed. Keep it next to what it was reserved for.
using MemoryShare = std::shared_ptr<const std::uint64_t>;

/// The memory that all live results may take together: those shown, being computed and kept. It only counts
/// and allocates nothing. A copy refers to the same budget. Thread-safe.
class MemoryBudget {
 public:
  /// How long a computation waits for results that are about to be freed: the window drops the last picture
  /// when it draws the next frame.
  static constexpr std::chrono::milliseconds kTimeout{2000};

  explicit MemoryBudget(std::uint64_t bytes);

  std::uint64_t total() const;
  std::uint64_t used() const;

  /// Reserves `bytes`, waiting up to `patience` until they are free. Returns null if they don't become free
  /// in time or when `stop` is requested.
  MemoryShare reserve(std::uint64_t bytes, std::stop_token stop = {},
                      std::chrono::milliseconds patience = kTimeout) const;
  /// Counts memory that has its own limit or is already allocated, even if it exceeds the budget.
  MemoryShare count(std::uint64_t bytes) const;

  /// Whether a reservation is waiting. Holders of results that can be recomputed should then free them.
  bool hasWaiters() const;
  /// Sets the callback for a reservation that begins to wait, called on its thread. Set it before the first
  /// reservation.
  void onShortage(std::function<void()> tell);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Returns the bytes of a checkpoint that a pass reads for its first `layers` layers: their matrices, the
/// embedding rows of `tokens` tokens, and, if `head` is set, the map to the vocabulary. For a mixture of
/// experts, counts at most as many experts as that many tokens can reach.
std::uint64_t bytesRead(const attention::Model& model, attention::Index layers, bool head,
                        attention::Index tokens);

}  // namespace headscope::app
