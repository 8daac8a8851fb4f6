#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headscope::render {

/// Linear 0..1 per channel, as sRGB-encoded values.
struct Color {
  float r = 0, g = 0, b = 0, a = 1;
  bool operator==(const Color&) const = default;
};

enum class Colormap { viridis, cividis, magma, blues, greys, diverging };
inline constexpr std::array kColormaps{Colormap::viridis, Colormap::cividis, Colormap::magma,
                                       Colormap::blues,   Colormap::greys,   Colormap::diverging};
std::string_view name(Colormap map);

/// The map's colour at t in [0, 1] (clamped). Dark at 0 for viridis, cividis, magma; white-free ends so
/// that a cell stays apart from both backgrounds.
Color sample(Colormap map, float t);

/// 256 RGBA8 entries: what the shader looks up.
std::array<std::uint8_t, 256 * 4> table(Colormap map);

}  // namespace headscope::render
