#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "render/colormap.h"

namespace headscope::app {

/// How a colour is seen: without one kind of cone, or without colour.
enum class ColourVision { normal, protanopia, deuteranopia, tritanopia, greyscale };
inline constexpr std::array<std::string_view, 5> kColourVisionNames{
    "Normal", "No red cones", "No green cones", "No blue cones", "Greyscale"};

/// The colour as that eye sees it: Machado, Oliveira and Fernandes 2009, severity 1, on linear sRGB.
render::Color seenBy(ColourVision vision, const render::Color& color);

/// How far two colours are apart in CIE 1976 L*a*b*: about 2.3 is the least that is seen side by side.
float colourDifference(const render::Color& a, const render::Color& b);

/// The least difference of two colours of the list.
float leastDifference(ColourVision vision, const std::vector<render::Color>& colors);
/// The least difference of two of the colormap's values that are a quarter of its range apart or more.
float leastStep(ColourVision vision, render::Colormap colormap);

}  // namespace headscope::app
