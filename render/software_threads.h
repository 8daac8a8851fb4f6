#pragma once

namespace headscope::render {

/// Gives Mesa's software rasterizer more threads than there are processors, where these are few, unless
/// LP_NUM_THREADS is set. Systems often start two of its threads on one processor and leave another idle for
/// milliseconds; with more threads, none stays without one. Call before the first context is created, and
/// before threads are started.
void setSoftwareThreads();

}  // namespace headscope::render
