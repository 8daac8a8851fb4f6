#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/platform/font_finder.h"
#include "app/platform/glyph_sheet.h"
#include "app/platform/shaped_text.h"

namespace headscope::app {

/// The file behind a font of Dear ImGui's atlas.
struct AtlasSource {
  std::string path;
  FontBytes bytes;
};

/// Measures and draws all text that is more than characters of Dear ImGui's atlas side by side: other
/// scripts, emoji, combining marks. Lines are shaped once and kept. A font that isn't there yet is looked for
/// on another thread, and a quiet mark stands for its characters until it comes. On the drawing thread.
class Typesetter {
 public:
  /// The fonts of a new atlas.
  void setAtlas(const std::map<const ImFont*, AtlasSource>& sources);
  void onAnswer(std::function<void()> wake) { finder_.onAnswer(std::move(wake)); }
  /// Takes the fonts that have come; true if any has.
  bool take();
  /// Whether a font that was asked for hasn't come yet.
  bool busy() { return finder_.busy(); }
  /// Blocks until all fonts that were asked for have come. For tests and headless rendering.
  void finish() { finder_.finish(); }
  void beginFrame() { sheet_.beginFrame(); }
  /// Scripts that were wanted since the last call and that no installed font has, by name.
  std::vector<std::string> takeMissing();

  /// Whether the text is characters of the atlas alone, for which Dear ImGui serves: nearly always.
  static bool isPlain(const ImFont* font, std::string_view text);
  /// One line of text as it is drawn in `font`.
  std::shared_ptr<const ShapedLine> line(const ImFont* font, std::string_view text,
                                         Direction direction = Direction::label);
  /// With the line's top left corner at `at`.
  void draw(ImDrawList& list, ImFont* font, ImVec2 at, std::uint32_t color, const ShapedLine& line);

  /// The em of a font of the atlas, in pixels.
  float em(const ImFont* font) const;
  const GlyphSheet& sheet() const { return sheet_; }
  /// Pixels that a line takes where glyphs needn't begin on whole ones, as other programs set it; 0 where the
  /// font's own file lacks a character.
  float unhintedWidth(const ImFont* font, std::string_view text) const;

  std::size_t linesKept() const;
  /// Another number after each change of fonts: what was laid out before is to be laid out again.
  int generation() const { return generation_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Lines = std::unordered_map<std::string, std::shared_ptr<const ShapedLine>, Hash, std::equal_to<>>;

  FontChoice choose(const ImFont* font, const Typeface* own, std::span<const std::uint32_t> codes,
                    bool upright);
  /// What answers the wish; nothing while it is looked for.
  std::optional<const Typeface*> answer(const FontWish& wish);
  void forgetLines();
  const Typeface* typefaceOf(const std::string& path, int index, const FontBytes& bytes);

  FontFinder finder_;
  std::map<std::pair<std::string, int>, std::unique_ptr<Typeface>> typefaces_;
  std::map<const ImFont*, const Typeface*> atlas_;
  std::map<FontWish, std::optional<const Typeface*>> answers_;
  std::set<std::string> missing_, said_;  ///< scripts without a font: to be said, and said already
  GlyphSheet sheet_;
  std::map<std::pair<const ImFont*, Direction>, Lines> lines_;
  std::size_t bytesKept_ = 0;
  int generation_ = 0;
};

/// What a script is called; "" for those without a name here.
std::string_view scriptName(hb_script_t script);

}  // namespace headscope::app
