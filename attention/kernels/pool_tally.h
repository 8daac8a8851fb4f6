#pragma once

#include <cstdint>
#include <vector>

namespace headscope::attention::kernels {

/// Statistics of the pools' work.
struct PoolTally {
  std::uint64_t shared = 0;  ///< runs that several threads took part in; each ends by waiting for all of them
  std::vector<double> busySeconds;  ///< on those runs: all calling threads together, then each worker
};

/// Returns the statistics since the last call. Call while nothing runs.
PoolTally takePoolTally();

}  // namespace headscope::attention::kernels
