#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// An accelerator as its maker describes it.
struct Machine {
  std::string name;
  double memoryGb = 0;   ///< GB, 10⁹ bytes
  double bandwidth = 0;  ///< bytes a second
  double flops = 0;      ///< operations a second: dense matrix products of 16-bit numbers, added up in fp32
  std::string source;
  bool operator==(const Machine&) const = default;
};

/// Nine sizes of memory from 8 to 192 GB.
const std::vector<Machine>& machines();
const Machine* findMachine(const std::vector<Machine>& machines, std::string_view name);

/// Where a computation of that many operations for each byte ends: the lower of both roofs (Williams et al.
/// 2009), in operations a second, for `count` machines.
double roofline(const Machine& machine, Index count, double intensity);

}  // namespace headscope::attention
