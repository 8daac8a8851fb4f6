#pragma once

#include <ft2build.h>
#include <hb.h>

#include <cstdint>
#include <memory>
#include <vector>
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

}  // namespace headscope::app
