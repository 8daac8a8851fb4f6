#pragma once

#include "app/compute/figures/drawing.h"
#include "app/platform/fonts.h"
#include "app/platform/shaped_text.h"

namespace headscope::app {

/// The objects of a PDF (ISO 32000-1, 7.5), numbered from 1. The first is the catalogue.
class PdfFile {
 public:
  /// Returns the number for an object that is written later.
  int reserve();
  /// `body`: "<< … >>" or another object in PDF syntax.
  void write(int number, const std::string& body);
  /// Writes a deflated stream. `entries` are added to its dictionary, next to length and filter.
  void writeStream(int number, const std::string& entries, const std::string& bytes);
  int add(const std::string& body);
  int addStream(const std::string& entries, const std::string& bytes);
  /// Returns the whole file. `info`: the number of the object with the title.
  std::string finish(int info);

 private:
  std::string text_ = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
  std::vector<std::size_t> places_;  ///< of each object; 0 until it is written
};

/// Formats a number with at most three decimals, in PDF syntax.
std::string pdfNumber(double value);
/// Returns UTF-8 text as a hexadecimal UTF-16 string: "<FEFF0061>"; without the byte order mark if `marked`
/// is false.
std::string pdfText(const std::string& utf8, bool marked = true);

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
