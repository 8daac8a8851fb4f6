#pragma once

namespace headscope::attention {

/// Returns the memory of destroyed results to the system. It is kept for reuse because fresh memory costs
/// more than the arithmetic on it. Call when nothing is likely to be computed for a while.
void releaseIdleMemory();

}  // namespace headscope::attention
