#include "attention/core/memory.h"

#include "attention/kernels/buffer.h"

namespace headscope::attention {

std::uint64_t idleMemory() {
  return kernels::idleBufferBytes();
}

void releaseIdleMemory() {
  kernels::releaseIdleBuffers();
}

}  // namespace headscope::attention
