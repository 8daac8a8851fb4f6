#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct ImFont;

namespace headscope::app {

/// The typefaces at their sizes: Inter for words, JetBrains Mono for tokens and numbers.
struct Fonts {
  ImFont* small = nullptr;  ///< 12
  ImFont* smallBold = nullptr;
  ImFont* text = nullptr;  ///< 15
  ImFont* bold = nullptr;
  ImFont* reading = nullptr;       ///< 17: a text that is read
  ImFont* title = nullptr;         ///< 17, semibold
  ImFont* hero = nullptr;          ///< 22, semibold
  ImFont* monoSmall = nullptr;     ///< 12
  ImFont* mono = nullptr;          ///< 15
  ImFont* monoTitle = nullptr;     ///< 17
  ImFont* monoHero = nullptr;      ///< 22
  ImFont* display = nullptr;       ///< 56, Latin letters and digits alone: one figure a page
  ImFont* displaySmall = nullptr;  ///< 40: the same where the window is small
};

/// The bytes of font files by their paths; empty for those that can't be read.
using FontFiles = std::map<std::string, std::vector<std::uint8_t>>;

/// Builds the atlas for a scale and the characters that are needed, and rebuilds it when either changes.
class FontBook {
 public:
  /// Makes sure the characters of `text` can be drawn; true if the atlas has to be rebuilt for it.
  /// Of those beyond U+FFFF the first 256; see wide_glyphs.h.
  bool need(std::string_view text);
  /// True if `scale` differs from what was built.
  bool setScale(float scale);
  /// Rebuilds ImGui's atlas. Families are looked up through fontconfig; characters they lack come from
  /// whatever installed font has them.
  void build();

  const Fonts& fonts() const { return fonts_; }
  float scale() const { return scale_; }

 private:
  float scale_ = 0;
  std::set<unsigned> extra_;  ///< characters beyond the base set
  std::set<unsigned> wide_;   ///< and those beyond U+FFFF
  FontFiles files_;           ///< which the atlas points into
  Fonts fonts_;
};

}  // namespace headscope::app
