#pragma once

#include <compare>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

#include "app/platform/imgui_compat.h"
#include "app/platform/shaped_text.h"

namespace headscope::app {

/// A request for the font that has most of a script, or for one that has a character.
struct FontRequest {
  hb_script_t script = HB_SCRIPT_INVALID;
  std::uint32_t code = 0;  ///< 0 = the whole script
  bool colored = false;    ///< prefer a colour font
  auto operator<=>(const FontRequest&) const = default;
};

/// A font file and its characters.
struct FontFace {
  std::string file;  ///< empty if there is none
  std::function<bool(std::uint32_t)> characters;

  bool has(std::uint32_t code) const { return characters && characters(code); }
};

/// A file, and the index of the font in it.
struct FontPlace {
  std::string path;  ///< empty if there is none
  int index = 0;
};

enum class FontWeight { regular, semibold };

/// The available fonts: those known to fontconfig, or in a browser those in the program's folder. Not
/// thread-safe.
class FontLookup {
 public:
  FontLookup();
  ~FontLookup();
  FontLookup(const FontLookup&) = delete;
  FontLookup& operator=(const FontLookup&) = delete;

  /// Also searches that folder from now on. A missing folder is ignored.
  void addFolder(const std::string& folder);
  /// Returns the font of `family` if there is one, otherwise that of `fallback`.
  FontFace face(const char* family, const char* fallback, FontWeight weight) const;
  /// Returns a scalable font without colours that has the character.
  std::string fileWith(std::uint32_t code) const;
  /// Returns the best match; its path is empty if no font has any of the characters.
  FontPlace find(const FontRequest& request) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

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

/// The answer to a FontRequest. `bytes` is null if no installed font matches.
struct FoundFont {
  FontRequest request;
  std::string path;
  int index = 0;
  FontBytes bytes;
};

/// Finds fonts and reads their files on a thread that starts with the first wish. Without threads, ask() does
/// the work itself.
class FontFinder {
 public:
  FontFinder() = default;
  ~FontFinder();
  FontFinder(const FontFinder&) = delete;
  FontFinder& operator=(const FontFinder&) = delete;

  /// Calls `wake` on the finder's thread after each answer. Set it before the first wish.
  void onAnswer(std::function<void()> wake) { wake_ = std::move(wake); }
  void ask(const FontRequest& request);
  /// Whether any answer is still being found or waiting to be taken.
  bool busy();
  /// Returns the answers since the last call.
  std::vector<FoundFont> take();
  /// Blocks until all answers can be taken. For tests and headless rendering, never for the window.
  void finish();

 private:
  void serve(std::stop_token quit);
  FoundFont answer(const FontLookup& fonts, const FontRequest& request);

  std::function<void()> wake_ = [] {};
  std::mutex mutex_;  ///< guards waiting_, answers_ and busy_
  std::condition_variable_any changed_;
  std::deque<FontRequest> waiting_;
  std::vector<FoundFont> answers_;
  bool busy_ = false;
  std::map<std::string, FontBytes> read_;  ///< by path; used only by the answering thread
  std::jthread thread_;  // last member: destroyed first, so the thread ends before the data it uses
};

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
  /// Returns the names of scripts needed since the last call that no installed font has; "these emoji" too.
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

/// The typefaces in each size: Inter for words, JetBrains Mono for tokens and numbers.
struct Fonts {
  ImFont* small = nullptr;  ///< 12
  ImFont* smallBold = nullptr;
  ImFont* text = nullptr;  ///< 15
  ImFont* bold = nullptr;
  ImFont* reading = nullptr;        ///< 17, for longer texts
  ImFont* title = nullptr;          ///< 17, semibold
  ImFont* hero = nullptr;           ///< 22, semibold
  ImFont* monoSmall = nullptr;      ///< 12
  ImFont* mono = nullptr;           ///< 15
  ImFont* monoTitle = nullptr;      ///< 17
  ImFont* monoHero = nullptr;       ///< 22
  ImFont* sentence = nullptr;       ///< 28, words of a sentence; from the sheet of glyphs beyond Latin
  ImFont* sentenceSmall = nullptr;  ///< 23, the same for longer sentences
  ImFont* display = nullptr;        ///< 56, basic Latin and digits only: one large figure per page
  ImFont* displaySmall = nullptr;   ///< 40, the same for small windows
  ImFont* script = nullptr;         ///< 12, below and above a formula's line, on stage as well
};

/// Dear ImGui's font atlas for a scale, with Latin and the interface's symbols. The Typesetter handles all
/// other characters. Beyond a size that any device supports, letters are in it smaller than they are drawn.
class FontBook {
 public:
  /// Starts another thread that finds the families, reads their files and those with symbols they lack, and
  /// builds the atlas for `scale`, so that it is ready when the window is.
  explicit FontBook(float scale = 1);
  ~FontBook();

  /// The atlas for creating Dear ImGui's context, possibly not built yet.
  ImFontAtlas& atlas() { return *atlas_; }
  void setScale(float scale) { scale_ = scale; }
  /// Waits for the other thread, and rebuilds the atlas if the scale has changed.
  void build();

  /// The fonts are null before the first build.
  const Fonts& fonts() const { return fonts_; }
  /// The source file of each font.
  const std::map<const ImFont*, AtlasSource>& sources() const { return sources_; }
  float scale() const { return scale_; }

  struct Files;

 private:
  void make(float scale);
  void fill(float scale, float largest);

  float scale_ = 0, builtScale_ = 0;
  std::unique_ptr<ImFontAtlas> atlas_;
  std::shared_ptr<const Files> files_;  ///< the atlas points into it
  Fonts fonts_;
  std::map<const ImFont*, AtlasSource> sources_;
  std::future<void> ahead_;  ///< writes the members above
};

}  // namespace headscope::app
