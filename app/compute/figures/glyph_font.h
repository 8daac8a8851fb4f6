#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/figures/pdf_file.h"
#include "app/platform/typeface.h"

namespace headscope::app {

/// Up to 255 glyphs of a typeface as a font in a PDF: outlines in the Compact Font Format (Adobe technical
/// notes 5176 and 5177) at 1,000 units per em, and the text of each glyph, so that text can be searched and
/// copied. The outlines have no hints, because viewers place glyphs at fractions of pixels.
class GlyphFont {
 public:
  static constexpr std::size_t kMax = 255;

  /// `number`: of the font's object in the file.
  GlyphFont(const Typeface& typeface, int number) : typeface_(typeface), number_(number) {}

  /// Returns the character code, from 1, of a glyph that represents `text` (UTF-8), adding it if it is new; 0
  /// if it is new and the font is full.
  int code(std::uint32_t glyph, const std::string& text);
  /// Returns the width in thousandths of an em.
  int width(int code) const { return glyphs_[static_cast<std::size_t>(code - 1)].width; }
  int number() const { return number_; }
  void write(PdfFile& file) const;

 private:
  struct Glyph {
    std::uint32_t index = 0;
    std::string text, outline;  ///< `outline` is a Type 2 charstring
    int width = 0;
  };
  Glyph glyph(std::uint32_t index) const;
  std::string program(const std::string& name) const;
  std::string toUnicode() const;

  const Typeface& typeface_;
  int number_;
  std::vector<Glyph> glyphs_;
};

}  // namespace headscope::app
