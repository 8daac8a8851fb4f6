#pragma once

#include <cairo.h>

#include "app/compute/figures/drawing.h"
#include "app/platform/fonts.h"

namespace headscope::app {

struct CairoRelease {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
  void operator()(cairo_font_face_t* face) const { cairo_font_face_destroy(face); }
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};
template <typename T>
using CairoOwned = std::unique_ptr<T, CairoRelease>;

/// The fonts of the window, and installed ones for characters that these lack.
class PictureFonts {
 public:
  static constexpr float kEm = 1000;  ///< of shaped lines
  /// Returns the text as glyphs of typefaces; nothing if the window's fonts are missing.
  ShapedLine shaped(const TextRun& text);
  /// Returns the typeface of a shaped line for Cairo.
  cairo_font_face_t* face(const Typeface* typeface);

 private:
  void load();
  const Typeface* open(const FontPlace& place);
  FontChoice choose(const Typeface* own, std::span<const std::uint32_t> codes);

  bool loaded_ = false;
  FontLookup lookup_;
  std::map<std::pair<std::string, int>, const Typeface*> opened_;
  std::map<const Typeface*, CairoOwned<cairo_font_face_t>> faces_;  ///< own their typefaces
  std::map<FontRequest, const Typeface*> answers_;
  const Typeface *words_ = nullptr, *bold_ = nullptr, *tokens_ = nullptr;
};

}  // namespace headscope::app
