#pragma once

namespace headscope::attention {

/// Whether the system has threads. A browser's page has none unless it was built with them: what would run on
/// one runs between two frames, a piece at a time, or at once.
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
inline constexpr bool kHasThreads = false;
#else
inline constexpr bool kHasThreads = true;
#endif

}  // namespace headscope::attention
