#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

namespace headscope::app {

struct Limits {
  std::uint64_t memoryBytes = 0;
};
/// Half of the machine's memory, at most 6 GiB.
Limits defaultLimits();

/// Memory that is counted as in use until the last copy of this goes: kept beside what it was allocated for.
using MemoryShare = std::shared_ptr<const std::uint64_t>;

/// What all results that are alive may take together: what is shown, what is being computed and what is kept.
/// It counts what it is told and allocates nothing. A copy is another handle on the same budget; safe from
/// several threads.
class MemoryBudget {
 public:
  /// How long a computation waits for results that are about to go: the window drops the last picture when it
  /// draws the next frame.
  static constexpr std::chrono::milliseconds kPatience{2000};

  explicit MemoryBudget(std::uint64_t bytes);

  std::uint64_t total() const;
  std::uint64_t used() const;

  /// So many bytes of what is left, waiting up to `patience` until they are; null where they aren't, and when
  /// `stop` is requested.
  MemoryShare reserve(std::uint64_t bytes, std::stop_token stop = {},
                      std::chrono::milliseconds patience = kPatience) const;
  /// Counts what has a limit of its own, or is there already, whether it fits or not.
  MemoryShare count(std::uint64_t bytes) const;

  /// Whether a reservation waits for room: whoever holds what can be computed again lets it go.
  bool isShort() const;
  /// `tell` is called when one begins to wait, on its thread. To be set before the first reservation.
  void whenShort(std::function<void()> tell);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headscope::app
