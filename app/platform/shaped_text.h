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

// A line of text as it is drawn: ordered by FriBidi (Unicode Standard Annex 9), shaped by HarfBuzz. Positions
// are pixels from the line's left edge; glyphs stand on the baseline at y = 0, y downwards.

struct ShapedGlyph {
  std::uint32_t glyph = 0;  ///< its index in the typeface
  float x = 0, y = 0;
};

/// What is drawn alike, from left to right.
struct TextPiece {
  enum class Kind {
    plain,   ///< characters of Dear ImGui's atlas
    glyphs,  ///< of a typeface
    number,  ///< "<E2A>" for a character that no installed font has
    awaited  ///< its font is looked for
  } kind = Kind::plain;
  float x = 0, width = 0;
  std::string text;  ///< of plain and number
  const Typeface* typeface = nullptr;
  std::vector<ShapedGlyph> glyphs;
};

/// What a caret doesn't go into: the bytes [from, to) and where they are drawn.
struct TextCluster {
  std::size_t from = 0, to = 0;
  float left = 0, right = 0;
  bool rightToLeft = false;
};

struct ShapedLine {
  std::string text;
  std::vector<TextPiece> pieces;      ///< from left to right
  std::vector<TextCluster> clusters;  ///< in the order of the text, which they tile
  float width = 0, em = 0;
  bool rightToLeft = false;  ///< the paragraph

  /// Where a caret before that byte stands: at the side of the next cluster where it begins.
  float caretAt(std::size_t byte) const;
  /// The caret's byte nearest to `x`.
  std::size_t byteAt(float x) const;
};

enum class Direction {
  label,  ///< right to left only where no letter runs from left to right: for words in our own sentences
  leftToRight,
  rightToLeft
};
/// Whether a paragraph runs from right to left: as its first letter does.
bool runsRightToLeft(std::string_view paragraph);

/// What one grapheme cluster is drawn with.
struct FontChoice {
  TextPiece::Kind kind = TextPiece::Kind::plain;
  const Typeface* typeface = nullptr;  ///< of Kind::glyphs
  bool operator==(const FontChoice&) const = default;
};

struct ShapingFont {
  float em = 0;  ///< pixels
  /// For the code points of a grapheme cluster; `upright`: it runs from left to right.
  std::function<FontChoice(std::span<const std::uint32_t> codes, bool upright)> choose;
  /// The width of plain characters.
  std::function<float(std::string_view)> measure;
};

/// `text`: one line of UTF-8.
ShapedLine shapeLine(std::string_view text, Direction direction, const ShapingFont& font);

/// Where a grapheme cluster of Unicode ends that begins at or before `at`, and where the one before begins.
std::size_t nextCluster(std::string_view text, std::size_t at);
std::size_t previousCluster(std::string_view text, std::size_t at);

/// Characters that are drawn by changing others, or not at all: joiners, variation selectors, marks of
/// direction.
bool drawsNothing(std::uint32_t code);

}  // namespace headscope::app
