#pragma once

#include <array>
#include <cstdint>

#include "render/colormap.h"

namespace headscope::app {

/// Colours by what they mean, as ImGui packs them (0xAABBGGRR). Query is orange, key is blue, value is
/// green, everywhere; red is for errors alone.
struct Theme {
  bool light = false;
  std::uint32_t background, panel, raised, line;
  std::uint32_t text, secondary, faint;
  std::uint32_t query, key, value;
  std::uint32_t error, warning;
  std::uint32_t knob;                   ///< slider knobs and other things one grabs
  std::array<std::uint32_t, 8> groups;  ///< KV groups, in turn
};

const Theme& darkTheme();
const Theme& lightTheme();
/// The same with a contrast of 7:1 at least, for a hall, a projector and whoever prefers it.
const Theme& strongTheme(bool light);

/// A KV group's colour.
std::uint32_t groupColor(const Theme& theme, std::int64_t kvHead);

/// The same colour with its alpha multiplied.
std::uint32_t faded(std::uint32_t color, float alpha);
std::uint32_t mixed(std::uint32_t a, std::uint32_t b, float t);
std::uint32_t packed(const render::Color& color);
render::Color unpacked(std::uint32_t color);
/// Relative luminance in 0..1 (WCAG 2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance).
float luminance(const render::Color& color);
/// Black or white, whichever reads better on `color`.
std::uint32_t inkOn(const render::Color& color);

}  // namespace headscope::app
