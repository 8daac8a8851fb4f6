#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attention/core/result.h"
#include "attention/kernels/pool_tally.h"

namespace headscope::attention {

/// What this machine can do at the most, measured on all threads that the kernels use.
struct MachineCeilings {
  double flops = 0;      ///< multiply-adds on registers alone, floating-point operations a second
  double readBytes = 0;  ///< reading memory once that no cache holds, bytes a second
};

/// Takes a tenth of a second and, while it does, 256 MiB. Throws std::bad_alloc.
MachineCeilings measureCeilings();

/// Reads all bytes once on the kernels' threads, as fast as they can be read; what it returns says nothing.
float readOnce(std::span<const std::uint8_t> bytes);

/// Threads the kernels work on, the calling one included.
int kernelThreads();
/// Has the kernels work on so many from now on, or on as many as there are processors, at most 16, when 0.
/// While nothing is computed.
void setKernelThreads(int threads);
/// What was computed on several threads since the last call. While nothing is computed.
kernels::PoolTally takeKernelTally();
/// The instruction set the kernels chose, as Highway names it: "AVX2", "AVX3", "SSE4".
const char* instructionSet();
/// Has the kernels choose among that instruction set and older ones alone; "" leaves the choice to the
/// processor. Before anything was computed. The error names the sets there are.
Status holdInstructionSet(const std::string& name);

}  // namespace headscope::attention
