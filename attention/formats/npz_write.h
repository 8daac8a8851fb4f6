#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

/// One array of an .npz file: float32 numbers in C order, or a text.
struct NpzArray {
  std::string name;
  std::vector<std::uint64_t> shape = {};  ///< of the numbers
  std::vector<float> numbers = {};
  std::string text = {};  ///< UTF-8; if not empty, the array is this single numpy str
};

/// Writes a compressed file that numpy.load can read. Returns writeFile()'s errors.
Status writeNpz(const std::filesystem::path& path, const std::vector<NpzArray>& arrays);

}  // namespace headscope::attention
