#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

/// One array of an .npz: float32 numbers in C order, or a text.
struct NpzArray {
  std::string name;
  std::vector<std::uint64_t> shape = {};  ///< of the numbers
  std::vector<float> numbers = {};
  std::string text = {};  ///< UTF-8; where it isn't empty it is the array, a single one of numpy's str type
};

/// Writes what numpy.load reads, compressed. Errors: those of writeFile.
Status writeNpz(const std::filesystem::path& path, const std::vector<NpzArray>& arrays);

}  // namespace headscope::attention
