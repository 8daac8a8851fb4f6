#pragma once

namespace headscope::attention {

/// Whether the system has threads. A web page has none unless it was built with them; work for a thread then
/// runs in pieces between frames, or immediately.
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
inline constexpr bool kHasThreads = false;
#else
inline constexpr bool kHasThreads = true;
#endif

}  // namespace headscope::attention
