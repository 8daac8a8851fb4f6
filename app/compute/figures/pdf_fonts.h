#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/glyph_font.h"
#include "app/platform/font_lookup.h"
#include "app/platform/shaped_text.h"

namespace headscope::app {

/// The fonts of a PDF's text: those of the window, and installed ones for characters that these lack. Not
/// thread-safe.
class PdfFonts {
 public:
  explicit PdfFonts(PdfFile& file);

  /// Returns the operators that show the text, in units with y pointing down. The colour must be set before.
  std::string show(const TextRun& text);
  /// Returns the font entries of a page's resources: "/F0 5 0 R ".
  std::string resources() const;
  /// Writes the fonts. Call after all text has been shown.
  void write() const;

 private:
  struct Place {
    int font = 0, code = 0;  ///< code 0 = no space in the font; the glyph stays blank
  };

  /// A glyph and the text it represents.
  struct Shown {
    const Typeface* typeface = nullptr;
    std::uint32_t glyph = 0;
    float x = 0, y = 0;
    std::string text;
  };
  struct ShownLine {
    std::vector<Shown> glyphs;  ///< left to right, in thousandths of an em
    std::vector<float> lefts;   ///< of letters
    float width = 0;
    bool simple = true;  ///< each glyph represents the letter at its place
  };

  FontChoice choose(const Typeface* own, std::span<const std::uint32_t> codes);
  const Typeface* open(const FontPlace& place);
  ShownLine shaped(const TextRun& text);
  Place placeOf(const Typeface& typeface, std::uint32_t glyph, const std::string& text);

  PdfFile& file_;
  FontLookup lookup_;
  std::map<std::pair<std::string, int>, std::unique_ptr<Typeface>> typefaces_;
  std::map<FontRequest, const Typeface*> answers_;
  const Typeface *words_ = nullptr, *bold_ = nullptr, *tokens_ = nullptr;
  std::map<const Typeface*, std::vector<std::size_t>> parts_;  ///< indices of fonts with its glyphs
  std::vector<GlyphFont> fonts_;
};

}  // namespace headscope::app
