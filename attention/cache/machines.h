#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/cache/weight_format.h"
#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// An accelerator as its maker describes it. Operations a second are those of dense matrix products.
struct Machine {
  std::string name;
  double memoryGb = 0;   ///< GB, 10⁹ bytes
  double bandwidth = 0;  ///< bytes a second
  double flops = 0;      ///< of 16-bit numbers, added up in fp32
  std::string source;
  double fp8 = 0, int8 = 0, fp4 = 0;  ///< the same of these; 0: not multiplied as such
  double link = 0;  ///< bytes a second to other GPUs, both directions together; 0: not known
  bool operator==(const Machine&) const = default;
};

/// One row for each, by their memory.
const std::vector<Machine>& machines();
/// By name, as people write it: the case and what is no letter or digit don't count, and a part that only one
/// name has is enough ("h100" is "H100 80 GB"). Null where there is none.
const Machine* findMachine(const std::vector<Machine>& machines, std::string_view name);

/// Operations a second in that format, or in the next wider one that the machine multiplies. fp32 counts half
/// of 16 bits, as TF32 has it.
double peakFlops(const Machine& machine, MathFormat format);
/// Where a computation of that many operations for each byte ends: the lower of both roofs (Williams et al.
/// 2009), in operations a second, for `count` machines.
double roofline(const Machine& machine, Index count, double intensity, MathFormat format = MathFormat::bf16);

}  // namespace headscope::attention
