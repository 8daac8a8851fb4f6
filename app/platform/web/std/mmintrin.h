// Eigen includes it beside SSE's own headers, which Emscripten has, and uses nothing of it.
#pragma once
