#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/figures/pdf_file.h"
#include "app/platform/typeface.h"

namespace headscope::app {

/// Up to 255 glyphs of a typeface as a font of a PDF: their outlines in the Compact Font Format (Adobe
/// technical notes 5176 and 5177), a thousand units an em, and what each says, so that text can be searched
/// and copied. The outlines are whole, without hints: viewers place what they draw between pixels.
class GlyphFont {
 public:
  static constexpr std::size_t kMost = 255;

  /// `number`: of its object in the file.
  GlyphFont(const Typeface& typeface, int number) : typeface_(typeface), number_(number) {}

  /// The character code, from 1, of a glyph that stands for `text` (UTF-8); 0 where it is not there and no
  /// more are taken. The first one of a glyph takes its outline along.
  int code(std::uint32_t glyph, const std::string& text);
  /// Thousandths of an em.
  int width(int code) const { return glyphs_[static_cast<std::size_t>(code - 1)].width; }
  int number() const { return number_; }
  void write(PdfFile& file) const;

 private:
  struct Glyph {
    std::uint32_t index = 0;
    std::string text, outline;  ///< a Type 2 charstring
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
