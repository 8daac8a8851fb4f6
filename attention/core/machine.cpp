#include "attention/core/machine.h"

#include "attention/kernels/buffer.h"
#include "attention/kernels/ceilings.h"

namespace headscope::attention {

MachineCeilings measureCeilings() {
  kernels::Pool& pool = kernels::sharedPool();
  return {kernels::fmaCeiling(pool), kernels::readCeiling(pool)};
}

float readOnce(std::span<const std::uint8_t> bytes) {
  return kernels::readOnce(kernels::sharedPool(), bytes);
}

int kernelThreads() {
  return kernels::sharedPool().threads();
}

void setKernelThreads(int threads) {
  kernels::renewSharedPool(threads);
}

kernels::PoolTally takeKernelTally() {
  return kernels::takePoolTally();
}

const char* instructionSet() {
  return kernels::targetName();
}

Status restrictInstructionSet(const std::string& name) {
  if (name.empty() || kernels::restrictTarget(name)) return success();
  return Error{"The processor has no instruction set \"" + name + "\", expected one of " +
               kernels::targetNames()};
}

void releaseIdleMemory() {
  kernels::releaseIdleBuffers();
}

}  // namespace headscope::attention
