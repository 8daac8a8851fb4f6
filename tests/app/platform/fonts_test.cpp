#include "app/platform/fonts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/platform/imgui_compat.h"

namespace headscope::app {
namespace {

/// The largest area of a glyph in the font, in pixels of the atlas.
float largestGlyph(const ImFont& font) {
  float largest = 0;
  for (const ImFontGlyph& glyph : font.Glyphs)
    largest = std::max(largest, (glyph.X1 - glyph.X0) * (glyph.Y1 - glyph.Y0));
  return largest;
}

/// A laptop, screens of 4K to 8K while presenting, and 400 % with text at 250 %.
TEST(Fonts, AtlasFitsAtAnyScale) {
  FontBook book(1);
  float width = 0;
  for (const float scale : {1.0f, 5.0f, 6.7f, 10.0f, 20.0f}) {
    SCOPED_TRACE(scale);
    book.setScale(scale);
    book.build();
    EXPECT_LE(book.atlas().TexWidth, 8192);
    EXPECT_LE(book.atlas().TexHeight, 8192);
    for (const ImFont* font : book.atlas().Fonts) EXPECT_LE(largestGlyph(*font), 65'536);
    ImFont* const display = book.fonts().display;
    EXPECT_NEAR(compat::sizeOf(display), std::round(56 * scale), 0.01f)
        << "smaller in the atlas, drawn as large";
    EXPECT_NEAR(compat::sizeOf(book.fonts().text), std::round(15 * scale), 0.01f);
    EXPECT_NEAR(compat::ascentOf(display) / compat::sizeOf(display), 0.8f, 0.2f);
    const float wide = display->CalcTextSizeA(compat::sizeOf(display), FLT_MAX, 0, "0123456789").x / scale;
    if (width > 0) {
      EXPECT_NEAR(wide, width, 0.05f * width);
    }
    width = wide;
  }
}

}  // namespace
}  // namespace headscope::app
