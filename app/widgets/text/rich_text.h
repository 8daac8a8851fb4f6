#pragma once

#include <string_view>

#include "app/scene/text/rich_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The fonts of a text: plain words, bold, code, and small parts of formulas.
struct RichFonts {
  ImFont *plain, *bold, *code, *small;
  std::uint32_t color;
};

/// The fonts of a paragraph next to controls; color 0 = the theme's text.
RichFonts richFonts(const View& view, std::uint32_t color = 0);

/// The size of a formula in pixels. `up` and `down` are the distances from its line's middle to its top and
/// bottom.
struct FormulaSize {
  float width = 0, up = 0, down = 0;
};
FormulaSize formulaSize(const RichFonts& fonts, const FormulaNode& formula);
/// Paints the formula with its left edge at x and the middle of its line at y.
void paintFormula(const View& view, Canvas list, const RichFonts& fonts, const FormulaNode& formula,
                  ImVec2 leftMiddle);

/// The area of a link in pixels and its target; or of bold words, which may be a term.
struct LinkArea {
  ImRect area;
  std::string target;  ///< empty = bold words
  std::string words;
};

/// Underlines bold words that are glossary terms, and explains the hovered one.
void explainTerms(const View& view, Canvas list, const std::vector<LinkArea>& links);

/// Paints paragraphs wrapped to `width` pixels with their top left corner at `at`. Returns their height.
/// Without a list, only measures. Appends the areas of links and bold words to `links`.
float paintRichText(const View& view, Canvas* list, const RichFonts& fonts, const RichText& text, ImVec2 at,
                    float width, std::vector<LinkArea>* links = nullptr);

/// Paints a white disc with a number, which connects words to a place on the page.
void paintMark(const View& view, Canvas list, ImVec2 center, std::string_view number);

/// Like paintText, for one-line formulas: "_" makes the next character a subscript, "^" a superscript; braces
/// group several: "W_Q", "e^{score − max}". Text wider than `width` is cut like by fitted(). Returns its
/// width.
float paintScripted(const View& view, Canvas list, ImFont* font, ImVec2 at, std::uint32_t color,
                    std::string_view text, Align align = Align::left, float width = FLT_MAX);
float scriptedWidth(const View& view, ImFont* font, std::string_view text);

}  // namespace headscope::app
