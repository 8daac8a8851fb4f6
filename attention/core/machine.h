#pragma once

#include <cstdint>
#include <span>

#include "attention/core/result.h"
#include "attention/kernels/pool.h"

namespace headscope::attention {

/// This machine's peak performance, measured on all kernel threads.
struct MachineCeilings {
  double flops = 0;      ///< floating-point operations per second in multiply-adds on registers only
  double readBytes = 0;  ///< bytes per second when reading uncached memory once
};

/// Takes about 0.1 s and 256 MiB of temporary memory. Throws std::bad_alloc.
MachineCeilings measureCeilings();

/// Reads all bytes once on the kernel threads, as fast as possible. The result has no meaning.
float readOnce(std::span<const std::uint8_t> bytes);

/// Returns the number of kernel threads, including the calling one.
int kernelThreads();
/// Sets the number of kernel threads; 0 = one per processor, at most 16. Call only while nothing is computed.
void setKernelThreads(int threads);
/// Returns the tally of multi-threaded work since the last call. Call only while nothing is computed.
kernels::PoolTally takeKernelTally();
/// Returns Highway's name of the instruction set the kernels use: "AVX2", "AVX3", "SSSE3".
const char* instructionSet();
/// Limits the kernels to that instruction set and older ones; "" = no limit. Call before anything is
/// computed. Returns an Error listing the available sets if there is none of that name.
Status restrictInstructionSet(const std::string& name);

/// Returns the memory of destroyed results to the system. It is kept for reuse because fresh memory costs
/// more than the arithmetic on it. Call when nothing is likely to be computed for a while.
void releaseIdleMemory();

}  // namespace headscope::attention
