#pragma once

#include <string>
#include <string_view>

#include "app/widgets/view.h"

namespace headscope::app {

// Drawing that every panel shares. Positions are framebuffer pixels.

enum class Align { left, center, right };

/// One line of text with its left, centre or right edge at x and its middle at y. Returns its width.
float paintText(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
                Align align = Align::left);
/// paintText with extra space between the characters, as headings have it.
float paintSpaced(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
                  float space);
float textWidth(ImFont* font, std::string_view text);
/// How many bytes of a line fit into `width`, whole grapheme clusters.
std::size_t bytesWithin(ImFont* font, std::string_view text, float width);
float lineHeight(const ImFont* font);

/// As much of `text` as fits into `width`, ended by an ellipsis where it was cut; nothing where not even that
/// fits.
std::string fitted(ImFont* font, std::string_view text, float width);
/// paintText of the fitted text; when it was cut and `hoverRect` is hovered, the whole appears as a tooltip.
void paintFitted(const View& view, Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                 std::string_view text, Align align = Align::left);

/// Text turned by `degrees` counter-clockwise about its right end, which lies at `at`.
void paintRotated(Canvas list, ImFont* font, ImVec2 at, float degrees, std::uint32_t color,
                  std::string_view text);

/// A paragraph wrapped to `width`, drawn with its top left corner at `at`; returns its height.
float paintParagraph(Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                     std::string_view text);

/// A sentence in a small raised box beside the pointer.
void tooltip(const View& view, std::string_view text);
/// Below `clear`, which it does not cover, or above it where there is no room.
void tooltipBeside(const View& view, std::string_view text, const ImRect& clear);

/// A badge with a tinted background; returns its width.
float paintBadge(const View& view, Canvas list, ImVec2 leftMiddle, std::uint32_t color,
                 std::string_view text);

}  // namespace headscope::app
