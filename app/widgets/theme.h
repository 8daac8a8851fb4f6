#pragma once

#include <array>
#include <cstdint>

#include "render/colormap.h"

namespace headscope::app {

/// Colours by meaning, packed for ImGui (0xAABBGGRR). Everywhere, query is orange, key is blue and value is
/// green; red is only for errors.
struct Theme {
  bool light = false;
  std::uint32_t background, panel, raised, line;
  std::uint32_t text, secondary, faint;
  std::uint32_t query, key, value;
  std::uint32_t error, warning;
  std::uint32_t knob;                   ///< slider knobs and other draggable things
  std::array<std::uint32_t, 8> groups;  ///< kv groups, in turn
};

const Theme& darkTheme();
const Theme& lightTheme();
/// The same with a contrast of at least 7:1, for lecture halls, projectors and anyone who prefers it.
const Theme& strongTheme(bool light);

/// Returns the colour of a kv group.
std::uint32_t groupColor(const Theme& theme, std::int64_t kvHead);

/// Returns the colour with its alpha multiplied by `alpha`.
std::uint32_t faded(std::uint32_t color, float alpha);
std::uint32_t mixed(std::uint32_t a, std::uint32_t b, float t);
std::uint32_t packed(const render::Color& color);
render::Color unpacked(std::uint32_t color);
/// Returns the relative luminance in 0..1 (WCAG 2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance).
float luminance(const render::Color& color);
/// Returns black or white, whichever is more readable on `color`.
std::uint32_t inkOn(const render::Color& color);

}  // namespace headscope::app
