#include "attention/cache/machines.h"

#include <algorithm>

namespace headscope::attention {

const std::vector<Machine>& machines() {
  constexpr double giga = 1e9, tera = 1e12;
  static const std::vector<Machine> kMachines{
      {"RTX 3070", 8, 448 * giga, 40.6 * tera, "NVIDIA, Ampere GA102 whitepaper, appendix"},
      {"RTX 4080", 16, 716.8 * giga, 97.5 * tera, "NVIDIA, Ada whitepaper, table 2"},
      {"RTX 4090", 24, 1008 * giga, 165.2 * tera, "NVIDIA, Ada whitepaper, table 2"},
      {"RTX 5090", 32, 1792 * giga, 209.5 * tera, "NVIDIA, RTX Blackwell whitepaper"},
      {"L40S", 48, 864 * giga, 362 * tera, "NVIDIA, L40S datasheet"},
      {"A100 80 GB", 80, 2039 * giga, 312 * tera, "NVIDIA, A100 datasheet, SXM"},
      {"H100 80 GB", 80, 3350 * giga, 989 * tera, "NVIDIA, H100 datasheet, SXM"},
      {"H20", 96, 4000 * giga, 148 * tera, "NVIDIA, H20 datasheet"},
      {"H200", 141, 4800 * giga, 989 * tera, "NVIDIA, H200 datasheet"},
      {"MI300X", 192, 5300 * giga, 1307.4 * tera, "AMD, Instinct MI300X datasheet"}};
  return kMachines;
}

const Machine* findMachine(const std::vector<Machine>& machines, std::string_view name) {
  const auto found =
      std::find_if(machines.begin(), machines.end(), [&](const Machine& m) { return m.name == name; });
  return found == machines.end() ? nullptr : &*found;
}

double roofline(const Machine& machine, Index count, double intensity) {
  return static_cast<double>(count) * std::min(machine.flops, machine.bandwidth * intensity);
}

}  // namespace headscope::attention
