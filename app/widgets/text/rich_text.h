#pragma once

#include "app/scene/text/rich_text.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The typefaces of a text that is read: words, what is bold, code, and what stands small in formulas.
struct RichFonts {
  ImFont *plain, *bold, *code, *small;
  std::uint32_t color;
};

/// How large a formula is set, in pixels: its line's middle is `up` below its top and `down` above its
/// bottom.
struct FormulaSize {
  float width = 0, up = 0, down = 0;
};
FormulaSize formulaSize(const RichFonts& fonts, const FormulaNode& formula);
/// Draws it with its left edge at x and the middle of its line at y.
void paintFormula(const View& view, Canvas list, const RichFonts& fonts, const FormulaNode& formula,
                  ImVec2 leftMiddle);

/// Where a link was drawn, in pixels, and where it leads; or bold words, which may be a term.
struct LinkArea {
  ImRect area;
  std::string target;  ///< empty: bold words
  std::string words;
};

/// Underlines the bold words that are terms of the glossary, and explains the one that is pointed at.
void explainTerms(const View& view, Canvas list, const std::vector<LinkArea>& links);

/// Paragraphs wrapped to `width` pixels from their top left corner on; returns their height. Without a list
/// nothing is drawn. What is drawn of links is added to `links`.
float paintRichText(const View& view, Canvas* list, const RichFonts& fonts, const RichText& text, ImVec2 at,
                    float width, std::vector<LinkArea>* links = nullptr);

/// A white disc with a number: ties words to a place on the page.
void paintMark(const View& view, Canvas list, ImVec2 center, std::string_view number);

}  // namespace headscope::app
