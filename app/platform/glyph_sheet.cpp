#include <algorithm>
#include <array>
#include <cmath>

#include "app/platform/fonts.h"
#include FT_OUTLINE_H

#include "render/gl_objects.h"

namespace headscope::app {

namespace {

/// Returns one pixel of a FreeType bitmap, premultiplied.
std::array<float, 4> pixelOf(const FT_Bitmap& bitmap, int x, int y) {
  const unsigned char* row = bitmap.buffer + static_cast<std::ptrdiff_t>(y) * bitmap.pitch;
  if (bitmap.pixel_mode == FT_PIXEL_MODE_BGRA) {
    const unsigned char* p = row + 4 * static_cast<std::ptrdiff_t>(x);
    return {static_cast<float>(p[2]), static_cast<float>(p[1]), static_cast<float>(p[0]),
            static_cast<float>(p[3])};
  }
  const auto cover = static_cast<float>(row[x]);
  return {cover, cover, cover, cover};
}

struct Pixels {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  ///< not premultiplied
};

/// Scales the bitmap; each pixel becomes the mean of the pixels it covers.
Pixels shrunk(const FT_Bitmap& bitmap, float scale) {
  const auto sized = [&](unsigned length) {
    return std::max(1, static_cast<int>(std::lround(static_cast<float>(length) * scale)));
  };
  Pixels picture{sized(bitmap.width), sized(bitmap.rows), {}};
  picture.rgba.assign(static_cast<std::size_t>(picture.width * picture.height) * 4, 0);
  const auto edge = [](int at, int of, unsigned length) {
    return static_cast<int>(static_cast<long>(at) * static_cast<long>(length) / of);
  };
  const bool colored = bitmap.pixel_mode == FT_PIXEL_MODE_BGRA;
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
      std::uint8_t* out = &picture.rgba[static_cast<std::size_t>(y * picture.width + x) * 4];
      for (std::size_t c = 0; c < 3; ++c) {
        const float value = colored ? (sum[3] > 0 ? sum[c] / sum[3] * 255 : 0) : 255;
        out[c] = static_cast<std::uint8_t>(std::lround(std::min(value, 255.0f)));
      }
      out[3] = static_cast<std::uint8_t>(std::lround(sum[3] / count));
    }
  return picture;
}

/// Loads and renders a glyph. Returns the scale for its bitmap; 0 if there is none.
float renderGlyph(FT_Face face, std::uint32_t glyph, float em, int fraction) {
  float scale = 1;
  if (FT_IS_SCALABLE(face)) {
    FT_Set_Char_Size(face, 0, std::lround(em * 64), 72, 72);
  } else {
    if (face->num_fixed_sizes == 0 || FT_Select_Size(face, face->num_fixed_sizes - 1)) return 0;
    const auto strike = static_cast<float>(face->available_sizes[face->num_fixed_sizes - 1].y_ppem) / 64;
    scale = em / std::max(1.0f, strike);
  }
  // Hint only vertically, so that joined letters still meet.
  if (FT_Load_Glyph(face, glyph, FT_LOAD_COLOR | FT_LOAD_TARGET_LIGHT)) return 0;
  const FT_GlyphSlot slot = face->glyph;
  if (slot->format == FT_GLYPH_FORMAT_OUTLINE) FT_Outline_Translate(&slot->outline, fraction * 16, 0);
  if (slot->format != FT_GLYPH_FORMAT_BITMAP && FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL)) return 0;
  const unsigned char mode = slot->bitmap.pixel_mode;
  const bool drawn = slot->bitmap.width > 0 && slot->bitmap.rows > 0 &&
                     (mode == FT_PIXEL_MODE_GRAY || mode == FT_PIXEL_MODE_BGRA);
  return drawn ? scale : 0;
}

/// Calls `draw` with the texture bound, then restores the previous binding.
template <typename Draw>
void withTexture(GLuint texture, Draw draw) {
  GLint bound = 0;
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
  glBindTexture(GL_TEXTURE_2D, texture);
  draw();
  glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(bound));
}

render::Texture emptyPage(int side) {
  render::Texture texture = render::makeTexture();
  const std::vector<std::uint8_t> clear(static_cast<std::size_t>(side) * static_cast<std::size_t>(side) * 4);
  withTexture(texture.id(), [&] {
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
      glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
    for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
      glTexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, side, side, 0, GL_RGBA, GL_UNSIGNED_BYTE, clear.data());
  });
  return texture;
}

}  // namespace

struct GlyphSheet::Page {
  render::Texture texture = emptyPage(kPageSide);
  int x = 0, y = 0, shelf = 0;  ///< position of the next glyph, and height of the current row
};

GlyphSheet::GlyphSheet() = default;
GlyphSheet::~GlyphSheet() = default;

void GlyphSheet::clear() {
  glyphs_.clear();
  pages_.clear();
  full_ = false;
  ++starts_;
}

void GlyphSheet::beginFrame() {
  if (full_) clear();
}

bool GlyphSheet::holds(unsigned texture) const {
  return std::ranges::any_of(pages_, [&](const auto& page) { return page->texture.id() == texture; });
}

GlyphSheet::Page* GlyphSheet::pageFor(int width, int height) {
  if (width > kPageSide || height > kPageSide) return nullptr;
  if (pages_.empty()) pages_.push_back(std::make_unique<Page>());
  for (;;) {
    Page& page = *pages_.back();
    if (page.x + width > kPageSide) {
      page.y += page.shelf;
      page.x = page.shelf = 0;
    }
    if (page.y + height <= kPageSide) return &page;
    if (pages_.size() == kMaxPages) return nullptr;
    pages_.push_back(std::make_unique<Page>());
  }
}

const GlyphImage& GlyphSheet::find(const Typeface& typeface, std::uint32_t glyph, float em, int fraction) {
  const Key key{&typeface, glyph, static_cast<int>(std::lround(em * 64)), fraction};
  if (const auto found = glyphs_.find(key); found != glyphs_.end()) return found->second;
  GlyphImage& image = glyphs_[key];
  const FT_Face face = typeface.face();
  const float scale = renderGlyph(face, glyph, em, fraction);
  if (scale == 0) return image;
  const FT_GlyphSlot slot = face->glyph;
  constexpr int kGap = 1;  // keeps neighbours from showing through at fractional positions
  // A glyph larger than a page is kept smaller than it is drawn.
  const auto longest = static_cast<float>(std::max(slot->bitmap.width, slot->bitmap.rows)) * scale;
  const float shrinking = std::min(1.0f, static_cast<float>(kPageSide - kGap - 1) / longest);
  const Pixels pixels = shrunk(slot->bitmap, scale * shrinking);
  Page* const page = pageFor(pixels.width + kGap, pixels.height + kGap);
  if (!page) {
    full_ = true;
    return image;
  }
  withTexture(page->texture.id(), [&] {
    glTexSubImage2D(GL_TEXTURE_2D, 0, page->x, page->y, pixels.width, pixels.height, GL_RGBA,
                    GL_UNSIGNED_BYTE, pixels.rgba.data());
  });
  const auto side = static_cast<float>(kPageSide);
  image.texture = page->texture.id();
  image.width = static_cast<float>(pixels.width) / shrinking;
  image.height = static_cast<float>(pixels.height) / shrinking;
  image.from = ImVec2(static_cast<float>(page->x) / side, static_cast<float>(page->y) / side);
  image.to = ImVec2(static_cast<float>(page->x + pixels.width) / side,
                    static_cast<float>(page->y + pixels.height) / side);
  image.left = std::round(static_cast<float>(slot->bitmap_left) * scale);
  image.top = -std::round(static_cast<float>(slot->bitmap_top) * scale);
  image.colored = slot->bitmap.pixel_mode == FT_PIXEL_MODE_BGRA;
  page->x += pixels.width + kGap;
  page->shelf = std::max(page->shelf, pixels.height + kGap);
  return image;
}

}  // namespace headscope::app
