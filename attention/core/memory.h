#pragma once

#include <cstdint>

namespace headscope::attention {

/// Bytes of results that are gone, kept for those to come: fresh memory costs more than the arithmetic on it.
std::uint64_t idleMemory();
/// Gives them back to the system: for when nothing is likely to be computed for a while.
void releaseIdleMemory();

}  // namespace headscope::attention
