#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "tests/support/ui_driver.h"

namespace headscope::test {

int pixelsApart(const render::Image& a, const render::Image& b, std::optional<ImRect> area, int steps) {
  if (a.width != b.width || a.height != b.height)
    throw std::runtime_error("the pictures have different sizes");
  const ImRect where = area.value_or(ImRect(0, 0, static_cast<float>(a.width), static_cast<float>(a.height)));
  const int left = std::max(0, static_cast<int>(where.Min.x)),
            right = std::min(a.width, static_cast<int>(where.Max.x));
  const int top = std::max(0, static_cast<int>(where.Min.y)),
            bottom = std::min(a.height, static_cast<int>(where.Max.y));
  int apart = 0;
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      const std::size_t at =
          (static_cast<std::size_t>(y) * static_cast<std::size_t>(a.width) + static_cast<std::size_t>(x)) * 4;
      const auto near = [&](std::uint8_t one, std::uint8_t other) {
        return std::abs(int{one} - int{other}) <= steps;
      };
      apart += !std::equal(a.rgba.begin() + static_cast<std::ptrdiff_t>(at),
                           a.rgba.begin() + static_cast<std::ptrdiff_t>(at + 4),
                           b.rgba.begin() + static_cast<std::ptrdiff_t>(at), near);
    }
  return apart;
}

}  // namespace headscope::test
