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

/// The source file of a font in Dear ImGui's atlas.
struct AtlasSource {
  std::string path;
  FontBytes bytes;
};

/// A typesetter for text that needs more than the characters of Dear ImGui's atlas one after another: other
/// scripts, emoji, combining marks. Shapes each line once and keeps it. Looks for missing fonts on another
/// thread and draws a faint placeholder until they arrive. Use it on the drawing thread.
class Typesetter {
 public:
  /// Sets the fonts of a new atlas.
  void setAtlas(const std::map<const ImFont*, AtlasSource>& sources);
  void onAnswer(std::function<void()> wake) { finder_.onAnswer(std::move(wake)); }
  /// Takes newly found fonts. Returns whether there were any.
  bool take();
  /// Whether a requested font hasn't been taken yet.
  bool busy() { return finder_.busy(); }
  /// Blocks until all requested fonts were found. For tests and headless rendering.
  void finish() { finder_.finish(); }
  void beginFrame() { sheet_.beginFrame(); }
  /// Returns the names of scripts needed since the last call that no installed font has.
  std::vector<std::string> takeMissing();

  /// Whether the atlas has all the characters, so that Dear ImGui can draw the text itself. Usually true.
  static bool isPlain(const ImFont* font, std::string_view text);
  /// Returns one line of text shaped in `font`.
  std::shared_ptr<const ShapedLine> line(const ImFont* font, std::string_view text,
                                         Direction direction = Direction::label);
  /// Draws the line with its top left corner at `at`.
  void draw(ImDrawList& list, ImFont* font, ImVec2 at, std::uint32_t color, const ShapedLine& line);

  /// Returns the em of a font in the atlas, in pixels.
  float em(const ImFont* font) const;
  const GlyphSheet& sheet() const { return sheet_; }
  /// Returns the width of a line in pixels if glyphs may start between whole pixels, as other programs place
  /// them; 0 if the font's own file lacks a character.
  float unhintedWidth(const ImFont* font, std::string_view text) const;

  std::size_t linesKept() const;
  /// Changes whenever the fonts change; earlier layouts are then outdated.
  int generation() const { return generation_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Lines = std::unordered_map<std::string, std::shared_ptr<const ShapedLine>, Hash, std::equal_to<>>;

  FontChoice choose(const ImFont* font, const Typeface* own, std::span<const std::uint32_t> codes,
                    bool upright);
  /// Returns the typeface for the wish, null if there is none; nothing while it is being looked for.
  std::optional<const Typeface*> answer(const FontRequest& request);
  void forgetLines();
  const Typeface* typefaceOf(const std::string& path, int index, const FontBytes& bytes);

  FontFinder finder_;
  std::map<std::pair<std::string, int>, std::unique_ptr<Typeface>> typefaces_;
  std::map<const ImFont*, const Typeface*> atlas_;
  std::map<FontRequest, std::optional<const Typeface*>> answers_;
  std::set<std::string> missing_, said_;  ///< scripts without a font: to be reported, and already reported
  GlyphSheet sheet_;
  std::map<std::pair<const ImFont*, Direction>, Lines> lines_;
  std::size_t bytesKept_ = 0;
  int generation_ = 0;
};

/// Returns the name of a script; "" if it has none here.
std::string_view scriptName(hb_script_t script);

}  // namespace headscope::app
