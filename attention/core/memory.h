#pragma once

namespace headscope::attention {

/// Memory of results that are gone is kept for those to come, since fresh memory costs more than the
/// arithmetic on it. Gives it back to the system: for when nothing is likely to be computed for a while.
void releaseIdleMemory();

}  // namespace headscope::attention
