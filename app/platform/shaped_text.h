#pragma once

#include <ft2build.h>
#include <hb.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// Appends a code point as UTF-8.
void appendUtf8(std::string& out, std::uint32_t codepoint);

/// Calls `visit` with every code point and its bytes. Expects valid UTF-8, but never reads past the end.
template <typename Visit>
void eachCodepoint(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (at + length > text.size()) length = text.size() - at;
    std::uint32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i)
      code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
    visit(code, text.substr(at, length));
    at += length;
  }
}

}  // namespace headscope::app

#include FT_FREETYPE_H

namespace headscope::app {

/// The bytes of a font file, shared because a Typeface points into them.
using FontBytes = std::shared_ptr<const std::vector<std::uint8_t>>;

/// A font from a file, shaped by HarfBuzz and drawn by FreeType.
class Typeface {
 public:
  /// Returns null if the bytes are not a font.
  static std::unique_ptr<Typeface> open(FontBytes bytes, int index);
  ~Typeface();
  Typeface(const Typeface&) = delete;
  Typeface& operator=(const Typeface&) = delete;

  bool has(std::uint32_t code) const;
  /// Returns the em, in pixels, at which ascender plus descender are `line` pixels high: Dear ImGui's font
  /// size.
  float emOfLine(float line) const;
  /// Returns the font for shaping at `em` pixels; positions are in 64ths of a pixel.
  hb_font_t* shapingFont(float em) const;
  FT_Face face() const { return face_; }

 private:
  explicit Typeface(FontBytes bytes) : bytes_(std::move(bytes)) {}

  FontBytes bytes_;
  FT_Library library_ = nullptr;
  FT_Face face_ = nullptr;
  hb_font_t* font_ = nullptr;
};

// A shaped line of text: ordered by FriBidi (Unicode Standard Annex 9), shaped by HarfBuzz. Positions are
// pixels from the line's left edge, relative to a baseline at y = 0, y down.

struct ShapedGlyph {
  std::uint32_t glyph = 0;  ///< index in the typeface
  float x = 0, y = 0;
  std::size_t byte = 0;  ///< where its text begins; it ends where that of another glyph begins
};

/// A part drawn with one font and direction, from left to right.
struct TextPiece {
  enum class Kind {
    plain,   ///< characters in Dear ImGui's atlas
    glyphs,  ///< glyphs of a typeface
    number,  ///< "<E2A>", for a character that no installed font has
    awaited  ///< its font is still being looked for
  } kind = Kind::plain;
  float x = 0, width = 0;
  std::string text;  ///< for plain and number
  const Typeface* typeface = nullptr;
  std::vector<ShapedGlyph> glyphs;
  std::size_t from = 0, to = 0;  ///< bytes of the line's text
};

/// A unit that a caret can't split: the bytes [from, to) and their horizontal extent.
struct TextCluster {
  std::size_t from = 0, to = 0;
  float left = 0, right = 0;
  bool rightToLeft = false;
};

struct ShapedLine {
  std::string text;
  std::vector<TextPiece> pieces;      ///< from left to right
  std::vector<TextCluster> clusters;  ///< in text order; they tile the text
  float width = 0, em = 0;
  bool rightToLeft = false;  ///< the paragraph's direction

  /// Returns the x of a caret before that byte: the edge where the next cluster begins.
  float caretAt(std::size_t byte) const;
  /// Returns the caret position, in bytes, nearest to `x`.
  std::size_t byteAt(float x) const;
};

enum class Direction {
  label,  ///< right to left only if no letter is left to right: for words in our own sentences
  leftToRight,
  rightToLeft
};
/// Whether the first letter makes the paragraph run from right to left.
bool runsRightToLeft(std::string_view paragraph);

/// The font choice for one grapheme cluster.
struct FontChoice {
  TextPiece::Kind kind = TextPiece::Kind::plain;
  const Typeface* typeface = nullptr;  ///< for Kind::glyphs
  bool operator==(const FontChoice&) const = default;
};

struct ShapingFont {
  float em = 0;  ///< pixels
  /// Chooses a font for the code points of a grapheme cluster. `upright` = runs from left to right.
  std::function<FontChoice(std::span<const std::uint32_t> codes, bool upright)> choose;
  /// Returns the width of plain characters.
  std::function<float(std::string_view)> measure;
  /// Shows the letters one by one, without optional ligatures, as Dear ImGui shows plain characters.
  const Typeface* letterByLetter = nullptr;
};

/// Shapes `text`, one line of UTF-8.
ShapedLine shapeLine(std::string_view text, Direction direction, const ShapingFont& font);

/// Return the end of the Unicode grapheme cluster at `at`, and the start of the one before `at`.
std::size_t nextCluster(std::string_view text, std::size_t at);
std::size_t previousCluster(std::string_view text, std::size_t at);

/// Whether the character is invisible itself or only changes others: joiners, variation selectors, direction
/// marks.
bool drawsNothing(std::uint32_t code);

}  // namespace headscope::app
