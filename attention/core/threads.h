#pragma once

namespace headscope::attention {

/// Whether the system has threads. A browser's page has none: what would run on one runs between two frames,
/// a piece at a time, or at once.
#ifdef __EMSCRIPTEN__
inline constexpr bool kHasThreads = false;
#else
inline constexpr bool kHasThreads = true;
#endif

}  // namespace headscope::attention
