#pragma once

namespace headscope::attention {

/// What this machine can do at the most, measured on all threads that the kernels use.
struct MachineCeilings {
  double flops = 0;      ///< multiply-adds on registers alone, floating-point operations a second
  double readBytes = 0;  ///< reading memory once that no cache holds, bytes a second
};

/// Takes a tenth of a second and, while it does, 256 MiB. Throws std::bad_alloc.
MachineCeilings measureCeilings();

/// Threads the kernels work on, the calling one included.
int kernelThreads();
/// The instruction set the kernels chose, as Highway names it: "AVX2", "AVX3", "SSE4".
const char* instructionSet();

}  // namespace headscope::attention
