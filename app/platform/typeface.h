#pragma once

#include <ft2build.h>
#include <hb.h>

#include <cstdint>
#include <memory>
#include <vector>
#include FT_FREETYPE_H

namespace headscope::app {

/// The bytes of a font file; shared, since a Typeface points into them.
using FontBytes = std::shared_ptr<const std::vector<std::uint8_t>>;

/// A font of a file, for HarfBuzz to shape with and for FreeType to draw.
class Typeface {
 public:
  /// Null where the bytes are no font.
  static std::unique_ptr<Typeface> open(FontBytes bytes, int index);
  ~Typeface();
  Typeface(const Typeface&) = delete;
  Typeface& operator=(const Typeface&) = delete;

  bool has(std::uint32_t code) const;
  /// The em, in pixels, at which ascender and descender together are `line` pixels high: Dear ImGui's size.
  float emOfLine(float line) const;
  /// For shaping at `em` pixels; positions are 64ths of one.
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
