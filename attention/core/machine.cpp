#include "attention/core/machine.h"

#include "attention/kernels/buffer.h"
#include "attention/kernels/system.h"
#include "attention/kernels/targets.h"

namespace headscope::attention {

Status restrictInstructionSet(const std::string& name) {
  if (name.empty() || kernels::restrictTarget(name)) return success();
  return Error{"The processor has no instruction set \"" + name + "\", expected one of " +
               kernels::targetNames()};
}

void releaseIdleMemory() {
  kernels::releaseIdleBuffers();
}

std::uint64_t machineMemory() {
  return kernels::machineMemory();
}

}  // namespace headscope::attention
