#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "app/platform/imgui_compat.h"
#include "app/platform/typeface.h"

namespace headscope::app {

/// A glyph as it is drawn. Its bitmap lies on a page of the sheet.
struct GlyphImage {
  unsigned texture = 0;     ///< 0 where nothing is drawn: a space, or no room is left in this frame
  ImVec2 from, to;          ///< texture coordinates
  float left = 0, top = 0;  ///< of its top left corner from the pen on the baseline, pixels, y downwards
  float width = 0, height = 0;
  bool colored = false;  ///< drawn as it is, not in the text's colour
};

/// Glyphs of fonts that are not in Dear ImGui's atlas, drawn when they are first needed, one by one: nothing
/// is rebuilt for them. Needs the OpenGL context that it was made with.
class GlyphSheet {
 public:
  GlyphSheet();
  ~GlyphSheet();
  GlyphSheet(const GlyphSheet&) = delete;
  GlyphSheet& operator=(const GlyphSheet&) = delete;

  /// The glyph at `em` pixels, whose pen stands `fraction` quarters of a pixel behind a whole one.
  const GlyphImage& find(const Typeface& typeface, std::uint32_t glyph, float em, int fraction);
  /// Before a frame: where the last one found no room left, the sheet starts anew.
  void beginFrame();
  void clear();
  std::size_t pages() const { return pages_.size(); }
  /// Whether the texture is a page. Glyphs are only added to it, until the sheet starts anew.
  bool holds(unsigned texture) const;
  /// How many times it started anew.
  std::uint64_t starts() const { return starts_; }

 private:
  static constexpr int kPageSide = 1024;  ///< 4 MiB a page
  static constexpr std::size_t kMaxPages = 8;

  struct Key {
    const Typeface* typeface = nullptr;
    std::uint32_t glyph = 0;
    int em = 0, fraction = 0;  ///< 64ths of a pixel, quarters of one
    auto operator<=>(const Key&) const = default;
  };
  struct Page;
  /// Null where no page has room for it.
  Page* pageFor(int width, int height);

  std::map<Key, GlyphImage> glyphs_;
  std::vector<std::unique_ptr<Page>> pages_;
  bool full_ = false;
  std::uint64_t starts_ = 0;
};

}  // namespace headscope::app
