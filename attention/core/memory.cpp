#include "attention/core/memory.h"

#include "attention/kernels/buffer.h"

namespace headscope::attention {

void releaseIdleMemory() {
  kernels::releaseIdleBuffers();
}

}  // namespace headscope::attention
