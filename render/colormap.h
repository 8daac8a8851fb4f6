#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headscope::render {

/// sRGB-encoded channels in 0..1.
struct Color {
  float r = 0, g = 0, b = 0, a = 1;
  bool operator==(const Color&) const = default;
};

enum class Colormap { viridis, cividis, magma, blues, greys, diverging };
inline constexpr std::array kColormaps{Colormap::viridis, Colormap::cividis, Colormap::magma,
                                       Colormap::blues,   Colormap::greys,   Colormap::diverging};
std::string_view name(Colormap map);

/// Returns the map's colour at t, clamped to [0, 1]. All maps except diverging are dark at 0. No map reaches
/// white, so cells stand out from the page.
Color sample(Colormap map, float t);

/// Returns 256 RGBA8 entries for the shader's lookup texture.
std::array<std::uint8_t, 256 * 4> table(Colormap map);

}  // namespace headscope::render
