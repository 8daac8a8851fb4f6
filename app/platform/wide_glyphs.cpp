#include "app/platform/wide_glyphs.h"

#include <fmt/core.h>
#include <ft2build.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "app/platform/font_match.h"
#include "app/platform/ui_state.h"
#include FT_FREETYPE_H

namespace headscope::app {

namespace {

struct FontFile {
  std::string path;
  int index = 0;
  bool operator<(const FontFile& other) const {
    return std::tie(path, index) < std::tie(other.path, other.index);
  }
};

/// The font fontconfig picks among those that have the character, and colours or not; an empty path where
/// none has.
FontFile wideFont(std::uint32_t code, FcBool colored) {
  const CharacterSet set(FcCharSetCreate());
  FcCharSetAddChar(set.get(), code);
  const FontPattern wanted(FcPatternCreate());
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, set.get());
  FcPatternAddBool(wanted.get(), FC_COLOR, colored);
  FcConfigSubstitute(nullptr, wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result;
  const FontPattern match(FcFontMatch(nullptr, wanted.get(), &result));
  FcChar8* file = nullptr;
  FcCharSet* has = nullptr;
  FontFile found;
  if (!match || FcPatternGetCharSet(match.get(), FC_CHARSET, 0, &has) != FcResultMatch ||
      !FcCharSetHasChar(has, code) || FcPatternGetString(match.get(), FC_FILE, 0, &file) != FcResultMatch)
    return found;
  found.path = reinterpret_cast<const char*>(file);
  FcPatternGetInteger(match.get(), FC_INDEX, 0, &found.index);
  return found;
}

/// One with colours where there is one.
FontFile wideFont(std::uint32_t code) {
  const FontFile colored = wideFont(code, FcTrue);
  return colored.path.empty() ? wideFont(code, FcFalse) : colored;
}

using Picture = WideGlyphs::Picture;

/// One pixel of a FreeType bitmap, not premultiplied.
std::array<float, 4> pixelOf(const FT_Bitmap& bitmap, int x, int y) {
  const unsigned char* row = bitmap.buffer + static_cast<std::ptrdiff_t>(y) * bitmap.pitch;
  if (bitmap.pixel_mode == FT_PIXEL_MODE_BGRA) {
    const unsigned char* p = row + 4 * static_cast<std::ptrdiff_t>(x);
    return {static_cast<float>(p[2]), static_cast<float>(p[1]), static_cast<float>(p[0]),
            static_cast<float>(p[3])};  // premultiplied
  }
  const auto cover = static_cast<float>(row[x]);
  return {cover, cover, cover, cover};
}

/// The bitmap at `scale`, each pixel the mean of those it covers.
void shrink(const FT_Bitmap& bitmap, float scale, Picture& picture) {
  const auto sized = [&](unsigned length) {
    return std::max(1, static_cast<int>(std::lround(static_cast<float>(length) * scale)));
  };
  picture.width = sized(bitmap.width);
  picture.height = sized(bitmap.rows);
  picture.rgba.assign(static_cast<std::size_t>(picture.width * picture.height) * 4, 0);
  const auto edge = [](int at, int of, unsigned length) {
    return static_cast<int>(static_cast<long>(at) * static_cast<long>(length) / of);
  };
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const int top = edge(y, picture.height, bitmap.rows), left = edge(x, picture.width, bitmap.width);
      const int bottom = std::max(top + 1, edge(y + 1, picture.height, bitmap.rows));
      const int right = std::max(left + 1, edge(x + 1, picture.width, bitmap.width));
      std::array<float, 4> sum{};
      for (int j = top; j < bottom; ++j)
        for (int i = left; i < right; ++i) {
          const std::array<float, 4> pixel = pixelOf(bitmap, i, j);
          for (std::size_t c = 0; c < 4; ++c) sum[c] += pixel[c];
        }
      const auto count = static_cast<float>((bottom - top) * (right - left));
      const float alpha = sum[3] / count;
      std::uint8_t* out = &picture.rgba[static_cast<std::size_t>(y * picture.width + x) * 4];
      for (std::size_t c = 0; c < 3; ++c) {
        const float value = picture.colored ? (sum[3] > 0 ? sum[c] / sum[3] * 255 : 0) : 255;
        out[c] = static_cast<std::uint8_t>(std::lround(std::min(value, 255.0f)));
      }
      out[3] = static_cast<std::uint8_t>(std::lround(alpha));
    }
}

/// Opens each font once, and draws its characters.
class GlyphPainter {
 public:
  GlyphPainter() { FT_Init_FreeType(&library_); }
  ~GlyphPainter() {
    for (const auto& [file, face] : faces_)
      if (face) FT_Done_Face(face);
    FT_Done_FreeType(library_);
  }
  GlyphPainter(const GlyphPainter&) = delete;
  GlyphPainter& operator=(const GlyphPainter&) = delete;

  /// Nothing where the font has no bitmap or outline that FreeType draws.
  std::optional<Picture> paint(const FontFile& file, std::uint32_t code, float size) {
    const FT_Face face = faceOf(file);
    if (!face) return std::nullopt;
    const FT_UInt glyph = FT_Get_Char_Index(face, code);
    if (glyph == 0) return std::nullopt;
    float scale = 1;
    if (FT_IS_SCALABLE(face)) {
      FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(std::lround(size)));
    } else {
      if (face->num_fixed_sizes == 0 || FT_Select_Size(face, face->num_fixed_sizes - 1)) return std::nullopt;
      const auto strike = static_cast<float>(face->available_sizes[face->num_fixed_sizes - 1].y_ppem) / 64;
      scale = size / std::max(1.0f, strike);
    }
    if (FT_Load_Glyph(face, glyph, FT_LOAD_COLOR | FT_LOAD_RENDER)) return std::nullopt;
    const FT_GlyphSlot slot = face->glyph;
    const bool gray = slot->bitmap.pixel_mode == FT_PIXEL_MODE_GRAY;
    if (slot->bitmap.width == 0 || (!gray && slot->bitmap.pixel_mode != FT_PIXEL_MODE_BGRA))
      return std::nullopt;
    Picture picture;
    picture.colored = !gray;
    shrink(slot->bitmap, scale, picture);
    picture.advance = std::round(static_cast<float>(slot->advance.x) / 64 * scale);
    picture.left = static_cast<float>(slot->bitmap_left) * scale;
    // Baselines of text lie about four fifths below the top of the line.
    picture.top = size * 0.82f - static_cast<float>(slot->bitmap_top) * scale;
    return picture;
  }

 private:
  FT_Face faceOf(const FontFile& file) {
    const auto found = faces_.find(file);
    if (found != faces_.end()) return found->second;
    FT_Face face = nullptr;
    if (FT_New_Face(library_, file.path.c_str(), file.index, &face)) face = nullptr;
    faces_.emplace(file, face);
    return face;
  }

  FT_Library library_ = nullptr;
  std::map<FontFile, FT_Face> faces_;
};

bool drawsNothing(std::uint32_t code) {
  return code == 0x200D || code == 0xFE0E || code == 0xFE0F;
}

}  // namespace

namespace {

/// Newer ImGui builds no atlas ahead of time, and has no place for glyphs that are drawn by hand: there wide
/// characters are shown by their numbers.
template <class Atlas>
constexpr bool kTakesGlyphs = requires(Atlas& atlas) {
  atlas.ConfigData;
};

/// The size a font will have when the atlas is built.
template <class Atlas>
float sizeIn(const Atlas& atlas, const ImFont* font) {
  for (const ImFontConfig& config : atlas.ConfigData)
    if (config.DstFont == font) return config.SizePixels;
  return 0;
}

template <class Atlas>
int placeIn(Atlas& atlas, ImFont* font, std::uint32_t standIn, const Picture& picture) {
  return atlas.AddCustomRectFontGlyph(font, static_cast<ImWchar>(standIn), picture.width, picture.height,
                                      picture.advance, ImVec2(picture.left, picture.top));
}

/// Copies a picture to its place in the atlas, and says whether the text's colour tints it.
template <class Atlas, class Font>
void drawIn(Atlas& atlas, int rect, Font* font, std::uint32_t standIn, const Picture& picture) {
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  atlas.GetTexDataAsRGBA32(&pixels, &width, &height);
  const auto* place = atlas.GetCustomRectByIndex(rect);
  if (!place || !place->IsPacked()) return;
  const auto bytes = static_cast<std::size_t>(picture.width) * 4;
  for (int y = 0; y < picture.height; ++y)
    std::copy_n(&picture.rgba[static_cast<std::size_t>(y) * bytes], bytes,
                pixels + (static_cast<std::size_t>(place->Y + y) * static_cast<std::size_t>(width) +
                          static_cast<std::size_t>(place->X)) *
                             4);
  if (const auto* glyph = font->FindGlyphNoFallback(static_cast<ImWchar>(standIn)))
    const_cast<ImFontGlyph*>(glyph)->Colored = picture.colored;
}

}  // namespace

template <class Atlas>
void WideGlyphs::reserveIn(Atlas& atlas, const std::vector<WideCharacter>& characters,
                           const std::vector<ImFont*>& fonts) {
  if constexpr (kTakesGlyphs<Atlas>) {
    GlyphPainter painter;
    for (const WideCharacter& character : characters) {
      const FontFile file = wideFont(character.code);
      bool all = !file.path.empty();
      for (ImFont* font : all ? fonts : std::vector<ImFont*>{}) {
        std::optional<Picture> picture = painter.paint(file, character.code, sizeIn(atlas, font));
        all = all && picture;
        if (!picture) continue;
        const int rect = placeIn(atlas, font, character.standIn, *picture);
        placed_.push_back({font, character.standIn, rect, *std::move(picture)});
      }
      if (all) drawn_.push_back(character);
    }
  }
}

template <class Atlas>
void WideGlyphs::drawInto(Atlas& atlas) const {
  if constexpr (kTakesGlyphs<Atlas>)
    for (const Placed& glyph : placed_) drawIn(atlas, glyph.rect, glyph.font, glyph.standIn, glyph.picture);
}

void WideGlyphs::reserve(ImFontAtlas& atlas, const std::vector<WideCharacter>& characters,
                         const std::vector<ImFont*>& fonts) {
  reserveIn(atlas, characters, fonts);
}

void WideGlyphs::draw(ImFontAtlas& atlas) const {
  drawInto(atlas);
}

bool needsStandIns(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0xE2) continue;
    // Four bytes, the private use area (EE and EF 80 … A3), U+FE0E and U+FE0F, U+200D.
    const auto next = [&](std::size_t by) {
      return i + by < text.size() ? static_cast<unsigned char>(text[i + by]) : 0;
    };
    if (byte >= 0xF0 || byte == 0xEE || (byte == 0xEF && (next(1) < 0xA4 || next(1) == 0xB8))) return true;
    if (byte == 0xE2 && next(1) == 0x80 && next(2) == 0x8D) return true;
  }
  return false;
}

std::string drawable(std::string_view text) {
  if (!needsStandIns(text)) return std::string(text);
  const UiState& state = uiState();
  std::string out;
  eachCodepoint(text, [&](std::uint32_t code, std::string_view bytes) {
    const bool own = code >= 0xE000 && code <= 0xF8FF;
    if (drawsNothing(code)) return;
    if (code <= 0xFFFF && !own) {
      out += bytes;
    } else if (const auto found = state.wide.find(code); found != state.wide.end()) {
      appendUtf8(out, found->second);
    } else {
      out += fmt::format("<{:X}>", code);
    }
  });
  return out;
}

}  // namespace headscope::app
