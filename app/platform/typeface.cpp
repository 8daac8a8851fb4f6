#include "app/platform/typeface.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

std::unique_ptr<Typeface> Typeface::open(FontBytes bytes, int index) {
  if (!bytes || bytes->empty()) return nullptr;
  std::unique_ptr<Typeface> opened(new Typeface(std::move(bytes)));
  const std::vector<std::uint8_t>& data = *opened->bytes_;
  if (FT_Init_FreeType(&opened->library_) ||
      FT_New_Memory_Face(opened->library_, data.data(), static_cast<FT_Long>(data.size()), index,
                         &opened->face_))
    return nullptr;
  hb_blob_t* const blob =
      hb_blob_create(reinterpret_cast<const char*>(data.data()), static_cast<unsigned>(data.size()),
                     HB_MEMORY_MODE_READONLY, nullptr, nullptr);
  hb_face_t* const face = hb_face_create(blob, static_cast<unsigned>(index));
  opened->font_ = hb_font_create(face);
  hb_face_destroy(face);
  hb_blob_destroy(blob);
  return opened;
}

Typeface::~Typeface() {
  hb_font_destroy(font_);
  if (face_) FT_Done_Face(face_);
  if (library_) FT_Done_FreeType(library_);
}

bool Typeface::has(std::uint32_t code) const {
  hb_codepoint_t glyph = 0;
  return hb_font_get_nominal_glyph(font_, code, &glyph) != 0;
}

float Typeface::emOfLine(float line) const {
  const auto high = static_cast<float>(face_->ascender - face_->descender);
  return high > 0 ? line * static_cast<float>(face_->units_per_EM) / high : line;
}

hb_font_t* Typeface::shapingFont(float em) const {
  const auto scale = static_cast<int>(std::lround(em * 64));
  hb_font_set_scale(font_, scale, scale);
  return font_;
}

}  // namespace headscope::app
