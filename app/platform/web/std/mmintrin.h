// Eigen includes this header along with those of SSE, which Emscripten has, but uses nothing from it.
#pragma once
