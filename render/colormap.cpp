#include "render/colormap.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

#include "render/colormap_anchors.h"

namespace headscope::render {
namespace {

std::span<const std::uint32_t> anchorsOf(Colormap map) {
  switch (map) {
    case Colormap::viridis:
      return anchors::kViridis;
    case Colormap::cividis:
      return anchors::kCividis;
    case Colormap::magma:
      return anchors::kMagma;
    case Colormap::blues:
      return anchors::kBlues;
    case Colormap::greys:
      return anchors::kGreys;
    case Colormap::diverging:
      return anchors::kDiverging;
  }
  throw std::invalid_argument("no such colormap: " + std::to_string(static_cast<int>(map)));
}

float place(std::uint32_t anchor) {
  return static_cast<float>(anchor >> 24) / 255.0f;
}

float channel(std::uint32_t anchor, int shift) {
  return static_cast<float>((anchor >> shift) & 0xffu) / 255.0f;
}

}  // namespace

std::string_view name(Colormap map) {
  switch (map) {
    case Colormap::viridis:
      return "viridis";
    case Colormap::cividis:
      return "cividis";
    case Colormap::magma:
      return "magma";
    case Colormap::blues:
      return "blues";
    case Colormap::greys:
      return "greys";
    case Colormap::diverging:
      return "diverging";
  }
  throw std::invalid_argument("no such colormap: " + std::to_string(static_cast<int>(map)));
}

Color sample(Colormap map, float t) {
  const auto points = anchorsOf(map);
  // The comparison maps NaN to 0.
  const float at = t > 0.0f ? std::min(t, 1.0f) : 0.0f;
  auto above = std::find_if(points.begin() + 1, points.end() - 1,
                            [at](std::uint32_t anchor) { return place(anchor) >= at; });
  const std::uint32_t low = *(above - 1), high = *above;
  const float mix = (at - place(low)) / (place(high) - place(low));
  const auto between = [&](int shift) { return std::lerp(channel(low, shift), channel(high, shift), mix); };
  return {between(16), between(8), between(0), 1.0f};
}

std::array<std::uint8_t, 256 * 4> table(Colormap map) {
  std::array<std::uint8_t, 256 * 4> entries;
  for (std::size_t i = 0; i < 256; ++i) {
    const Color color = sample(map, static_cast<float>(i) / 255.0f);
    const float channels[] = {color.r, color.g, color.b, color.a};
    for (std::size_t c = 0; c < 4; ++c) {
      entries[4 * i + c] = static_cast<std::uint8_t>(std::lround(255.0f * channels[c]));
    }
  }
  return entries;
}

}  // namespace headscope::render
