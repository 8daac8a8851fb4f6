#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "render/colormap.h"

namespace headscope::app {

/// Kinds of colour vision: normal, lacking one kind of cone, or without colour.
enum class ColourVision { normal, protanopia, deuteranopia, tritanopia, greyscale };
inline constexpr std::array<std::string_view, 5> kColourVisionNames{
    "Normal", "No red cones", "No green cones", "No blue cones", "Greyscale"};

/// Returns the colour as seen with that vision (Machado, Oliveira and Fernandes 2009, severity 1, on linear
/// sRGB).
render::Color seenBy(ColourVision vision, const render::Color& color);

/// Returns the distance of two colours in CIE 1976 L*a*b*; about 2.3 is just noticeable side by side.
float colourDifference(const render::Color& a, const render::Color& b);

/// Returns the smallest difference between any two colours of the list.
float leastDifference(ColourVision vision, const std::vector<render::Color>& colors);
/// Returns the smallest difference between any two colours at least a quarter of the colormap's range apart.
float leastStep(ColourVision vision, render::Colormap colormap);

}  // namespace headscope::app
