#pragma once

#include <cstdint>
#include <vector>

namespace headscope::attention::kernels {

/// What pools did.
struct PoolTally {
  std::uint64_t shared = 0;  ///< runs that several threads took part in; each ends by waiting for all
  std::vector<double>
      busySeconds;  ///< on tasks of those: the asking threads together, then each other thread
};

/// Since the last call. While nothing runs.
PoolTally takePoolTally();

}  // namespace headscope::attention::kernels
