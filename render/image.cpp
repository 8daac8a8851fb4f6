#include "render/image.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headscope::render {

Image imageFromBottom(int width, int height, std::vector<std::uint8_t> rgba) {
  const auto stride = std::ptrdiff_t{4} * width;
  for (auto low = rgba.begin(), high = rgba.end() - stride; low < high; low += stride, high -= stride)
    std::swap_ranges(low, low + stride, high);
  return {width, height, std::move(rgba)};
}

}  // namespace headscope::render
