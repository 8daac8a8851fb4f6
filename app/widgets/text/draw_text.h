#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/canvas.h"

namespace headscope::app {

// Basic text drawing. Positions are framebuffer pixels.

enum class Align { left, center, right };

/// Paints one line with its left edge, centre or right edge at x and its vertical middle at y. Returns its
/// width.
float paintText(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
                Align align = Align::left);
/// Like paintText, with extra space between characters, for headings.
float paintSpaced(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
                  float space);
float textWidth(ImFont* font, std::string_view text);
/// Returns how many bytes of a line fit into `width`, in whole grapheme clusters.
std::size_t bytesWithin(ImFont* font, std::string_view text, float width);
float lineHeight(const ImFont* font);

/// Returns as much of `text` as fits into `width`, ending in an ellipsis if cut; "" if not even that fits.
std::string fitted(ImFont* font, std::string_view text, float width);
/// Paints text turned `degrees` counter-clockwise around its left end, centre or right end, which is at `at`.
void paintRotated(Canvas list, ImFont* font, ImVec2 at, float degrees, std::uint32_t color,
                  std::string_view text, Align align = Align::right);

/// Paints a paragraph wrapped to `width` with its top left corner at `at`. Returns its height.
float paintParagraph(Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                     std::string_view text);

/// Text broken into lines, as in tooltips.
struct TextLines {
  std::string lines;
  ImVec2 size;
  float wrap = 0;  ///< width at which plain text is wrapped
};
TextLines linesOf(ImFont* font, std::string_view text, float width);
/// Paints the lines with their top left corner at `at`; tests find them as `text`.
void paintLines(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, const TextLines& lines,
                std::string_view text);

/// Returns the first of several wordings, longest first, that fits into `width`; the last if none does.
std::string firstFitting(ImFont* font, const std::vector<std::string>& wordings, float width);

/// Returns `text` with spaces turned into line breaks so that lines fit into `width`; `measure` returns a
/// piece's width.
std::string wrapped(std::string_view text, float width,
                    const std::function<float(std::string_view)>& measure);

}  // namespace headscope::app
