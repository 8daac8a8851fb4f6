#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "app/platform/imgui_compat.h"
#include "app/platform/typeface.h"

namespace headscope::app {

/// A drawable glyph. Its bitmap is on a page of the sheet.
struct GlyphImage {
  unsigned texture = 0;     ///< 0 if there is nothing to draw: a space, or the sheet is full
  ImVec2 from, to;          ///< texture coordinates
  float left = 0, top = 0;  ///< from the pen on the baseline to the top left corner, pixels, y down
  float width = 0, height = 0;
  bool colored = false;  ///< drawn in its own colours, not in the text's
};

/// A cache of glyphs from fonts outside Dear ImGui's atlas. Each is drawn when first needed, without
/// rebuilding anything. Needs the OpenGL context that was current when it was created.
class GlyphSheet {
 public:
  GlyphSheet();
  ~GlyphSheet();
  GlyphSheet(const GlyphSheet&) = delete;
  GlyphSheet& operator=(const GlyphSheet&) = delete;

  /// Returns the glyph at `em` pixels, for a pen `fraction` quarters of a pixel past a whole pixel.
  const GlyphImage& find(const Typeface& typeface, std::uint32_t glyph, float em, int fraction);
  /// Call before each frame. Clears the sheet if the last frame ran out of space.
  void beginFrame();
  void clear();
  std::size_t pages() const { return pages_.size(); }
  /// Whether the texture is one of the pages. Until the sheet is cleared, glyphs are only added to a page.
  bool holds(unsigned texture) const;
  /// The number of times the sheet was cleared.
  std::uint64_t starts() const { return starts_; }

 private:
  static constexpr int kPageSide = 1024;  ///< 4 MiB per page
  static constexpr std::size_t kMaxPages = 8;

  struct Key {
    const Typeface* typeface = nullptr;
    std::uint32_t glyph = 0;
    int em = 0, fraction = 0;  ///< 64ths and quarters of a pixel
    auto operator<=>(const Key&) const = default;
  };
  struct Page;
  /// Returns null if there is no space left on any page.
  Page* pageFor(int width, int height);

  std::map<Key, GlyphImage> glyphs_;
  std::vector<std::unique_ptr<Page>> pages_;
  bool full_ = false;
  std::uint64_t starts_ = 0;
};

}  // namespace headscope::app
