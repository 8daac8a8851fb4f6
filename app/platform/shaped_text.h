#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/typeface.h"

namespace headscope::app {

// A shaped line of text: ordered by FriBidi (Unicode Standard Annex 9), shaped by HarfBuzz. Positions are
// pixels from the line's left edge, relative to a baseline at y = 0, y down.

struct ShapedGlyph {
  std::uint32_t glyph = 0;  ///< index in the typeface
  float x = 0, y = 0;
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
