#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/platform/canvas.h"

namespace headscope::app {

// Text on its own, of which every panel draws. Positions are framebuffer pixels.

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
/// Text turned by `degrees` counter-clockwise about its right end, which lies at `at`.
void paintRotated(Canvas list, ImFont* font, ImVec2 at, float degrees, std::uint32_t color,
                  std::string_view text);

/// A paragraph wrapped to `width`, drawn with its top left corner at `at`; returns its height.
float paintParagraph(Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                     std::string_view text);

/// Text in lines of about a width, as boxes beside the pointer have it.
struct TextLines {
  std::string lines;
  ImVec2 size;
  float wrap = 0;  ///< where plain text is broken
};
TextLines linesOf(ImFont* font, std::string_view text, float width);
/// Draws them from their top left corner; tests find them as `text`.
void paintLines(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, const TextLines& lines,
                std::string_view text);

}  // namespace headscope::app
