#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/imgui_compat.h"

namespace headscope::app {

// Debian's Dear ImGui has 16-bit characters: an emoji or a rare Han character has no place in its fonts.
// Those beyond U+FFFF are drawn as their stand-ins of the private use area (supplementary.h), for which the
// glyphs are put into the atlas by hand.

/// A character beyond U+FFFF and its stand-in.
struct WideCharacter {
  std::uint32_t code = 0, standIn = 0;
};

/// Glyphs of wide characters for every font of an atlas, in colour where the font has colours. Made for one
/// building of the atlas.
class WideGlyphs {
 public:
  /// Makes room for the glyphs of `characters` in each of `fonts`, before the atlas is built. Those that no
  /// installed font has are left out.
  void reserve(ImFontAtlas& atlas, const std::vector<WideCharacter>& characters,
               const std::vector<ImFont*>& fonts);
  /// Draws them into the atlas that was built.
  void draw(ImFontAtlas& atlas) const;
  /// Those that have a glyph.
  const std::vector<WideCharacter>& drawn() const { return drawn_; }

  /// A picture of one character, as large as the line: four bytes a pixel, not premultiplied.
  struct Picture {
    int width = 0, height = 0;
    float advance = 0, left = 0, top = 0;  ///< of the pen; the picture's corner from the line's top left
    bool colored = false;
    std::vector<std::uint8_t> rgba;
  };

 private:
  struct Placed {
    ImFont* font = nullptr;
    std::uint32_t standIn = 0;
    int rect = -1;  ///< of the atlas
    Picture picture;
  };
  template <class Atlas>
  void reserveIn(Atlas& atlas, const std::vector<WideCharacter>& characters,
                 const std::vector<ImFont*>& fonts);
  template <class Atlas>
  void drawInto(Atlas& atlas) const;

  std::vector<Placed> placed_;
  std::vector<WideCharacter> drawn_;
};

/// Text as the fonts of the current context can draw it: wide characters as their stand-ins, those without a
/// glyph as their number ("<1F600>"), so that two are told apart; marks that draw nothing are left out.
std::string drawable(std::string_view text);
/// Whether that differs from the text.
bool needsStandIns(std::string_view text);

}  // namespace headscope::app
