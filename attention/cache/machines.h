#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/cache/weight_format.h"
#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// An accelerator as specified by its manufacturer. Operations per second are for dense matrix products.
struct Machine {
  std::string name;
  double memoryGb = 0;   ///< GB, 10⁹ bytes
  double bandwidth = 0;  ///< bytes per second
  double flops = 0;      ///< per second, for 16-bit numbers accumulated in fp32
  std::string source;
  double fp8 = 0, int8 = 0, fp4 = 0;  ///< the same for these formats; 0 = not supported
  double link = 0;  ///< bytes per second to other GPUs, both directions together; 0 = unknown
  bool operator==(const Machine&) const = default;
};

/// Returns all known machines, by ascending memory.
const std::vector<Machine>& machines();
/// Finds a machine by name, ignoring case and anything but letters and digits. If no name matches, the first
/// that begins with `name` is used ("h100" is "H100 80 GB"). Null if there is none.
const Machine* findMachine(const std::vector<Machine>& machines, std::string_view name);

/// Returns the operations per second in that format, or in the next wider one that the machine supports. fp32
/// counts as half of 16 bits, like TF32.
double peakFlops(const Machine& machine, MathFormat format);
/// Returns the operations per second that `count` machines reach at `intensity` operations per byte: the
/// lower of both roofs (Williams et al. 2009).
double roofline(const Machine& machine, Index count, double intensity, MathFormat format = MathFormat::bf16);

}  // namespace headscope::attention
