#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "render/heatmap.h"

namespace headscope::render {
namespace {

/// Returns the brighter of two cells. The special values need no extra cases: −∞ (masked) is below −FLT_MAX
/// (dead), which is below every other finite value. Only NaN is tested, by being unequal to itself.
float brighter(float a, float b) {
  return ((b > a) | (b != b)) ? b : a;
}

}  // namespace

void maxPool(const float* values, int rows, int cols, int factor, float* out) {
  if (rows < 0 || cols < 0 || factor < 1) {
    throw std::invalid_argument("maxPool of [" + std::to_string(rows) + ", " + std::to_string(cols) +
                                "] by " + std::to_string(factor));
  }
  const auto width = static_cast<std::size_t>(cols), block = static_cast<std::size_t>(factor);
  const auto height = static_cast<std::size_t>(rows);
  // Pools down the columns first, where neighbours are contiguous, then along the remaining row.
  std::vector<float> best(width);
  for (std::size_t top = 0; top < height; top += block) {
    std::copy_n(values + top * width, width, best.begin());
    for (std::size_t row = top + 1; row < std::min(top + block, height); ++row) {
      const float* line = values + row * width;
      for (std::size_t col = 0; col < width; ++col) best[col] = brighter(best[col], line[col]);
    }
    std::size_t left = 0;
    if (factor == 2)  // by far the most common factor, and a loop that compilers vectorise
      for (; left + 1 < width; left += 2) *out++ = brighter(best[left], best[left + 1]);
    for (; left < width; left += block) {
      float pooled = best[left];
      const std::size_t end = std::min(left + block, width);
      for (std::size_t col = left + 1; col < end; ++col) pooled = brighter(pooled, best[col]);
      *out++ = pooled;
    }
  }
}

}  // namespace headscope::render
