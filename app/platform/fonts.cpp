#include "app/platform/fonts.h"

#include <algorithm>
#include <utility>

#include "app/platform/assets.h"
#include "app/platform/imgui_compat.h"
#include "app/platform/shaped_text.h"
#include "attention/core/threads.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

namespace {

// Symbols beyond Latin that the interface itself uses.
// clang-format off
constexpr const char* kSymbols =
    "λᵀ√·Σ→←↑↓−×÷≤≥≠≈±∘∞₀₁₂₃₄₅₆₇₈₉₊₋ₖ⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁱʲ⌊⌋…–—‘’“”␣Δ‖∈▁▶⏸◀•‹›✓⌘↵αβθ∧∨¬⅓⅔⅕⅙⅚⅛⅜⅝⅞"
    "γδεμπσωᴴ′⊙⋯⌈⌉✗ⁿⱼ�";
// clang-format on

/// The largest size of Latin letters in the atlas, in pixels. None is wider or higher than 256 then.
constexpr float kMaxLatinPixels = 232;
/// The scale up to which all other text is in the atlas as it is drawn, and the height of a texture that
/// every device with OpenGL 3.3 has.
constexpr float kMaxFontScale = 8;
constexpr int kMaxAtlasHeight = 8192;

const ImWchar* latinRanges() {
  static const ImWchar ranges[] = {0x20, 0x7E, 0xA0, 0x17F, 0};
  return ranges;
}

}  // namespace

/// The files that make up the atlas, at any scale.
struct FontBook::Files {
  std::string words, boldWords, tokens;                   ///< paths; "" if none
  std::vector<ImWchar> symbols;                           ///< all of kSymbols
  std::map<std::string, std::vector<ImWchar>> fallbacks;  ///< symbols that the above lack
  std::map<std::string, FontBytes> bytes;                 ///< by path; only files that could be read

  static std::shared_ptr<const Files> find();
};

std::shared_ptr<const FontBook::Files> FontBook::Files::find() {
  const auto found = std::make_shared<Files>();
  // The fonts bundled with the program; a missing folder is ignored.
  FontLookup lookup;
  lookup.addFolder((assetFolder() / "fonts").string());
  const FontFace words = lookup.face("Inter", "DejaVu Sans", FontWeight::regular);
  const FontFace boldWords = lookup.face("Inter", "DejaVu Sans", FontWeight::semibold);
  const FontFace tokens = lookup.face("JetBrains Mono", "DejaVu Sans Mono", FontWeight::regular);
  eachCodepoint(kSymbols, [&](std::uint32_t code, std::string_view) {
    found->symbols.push_back(static_cast<ImWchar>(code));
    if (words.has(code) && boldWords.has(code) && tokens.has(code)) return;
    if (const std::string file = lookup.fileWith(code); !file.empty())
      found->fallbacks[file].push_back(static_cast<ImWchar>(code));
  });
  std::set<std::string> paths{words.file, boldWords.file, tokens.file};
  for (const auto& [file, characters] : found->fallbacks) paths.insert(file);
  for (const std::string& path : paths)
    if (auto read = attention::readFile(path); !path.empty() && read.ok() && !read->empty())
      found->bytes[path] = std::make_shared<const std::vector<std::uint8_t>>(std::move(read).value());
  found->words = words.file;
  found->boldWords = boldWords.file;
  found->tokens = tokens.file;
  return found;
}

namespace {

ImVector<ImWchar> rangesOf(const std::vector<ImWchar>& characters) {
  ImFontGlyphRangesBuilder all;
  for (const ImWchar code : characters) all.AddChar(code);
  ImVector<ImWchar> ranges;
  all.BuildRanges(&ranges);
  return ranges;
}

/// Adds fonts to the atlas, with their fallbacks merged in.
class AtlasBuilder {
 public:
  /// Letters are in the atlas at the scale `largest` at most.
  AtlasBuilder(ImFontAtlas& atlas, float scale, float largest, const FontBook::Files& files,
               std::map<const ImFont*, AtlasSource>& sources)
      : atlas_(atlas),
        scale_(scale),
        largest_(largest),
        files_(files),
        sources_(sources),
        symbolRanges_(rangesOf(files.symbols)) {
    for (const auto& [file, characters] : files.fallbacks)
      fallbacks_.emplace_back(file, rangesOf(characters));
  }

  /// Leaves out symbols and, unless a person's words are written in it, accented letters, which would fill
  /// the atlas at large sizes.
  ImFont* addLatin(const std::string& file, float size, bool words = false) {
    static const ImWchar figures[] = {0x20, 0x7E, 0xB0, 0xBF, 0}, letters[] = {0x20, 0x7E, 0xA0, 0x17F, 0};
    const ImWchar* const ranges = words ? letters : figures;
    return sized(size, std::min(bounded(size), kMaxLatinPixels),
                 [&](float pixels) { return addBase(file, pixels, ranges); });
  }

  ImFont* add(const std::string& file, float size) {
    return sized(size, bounded(size), [&](float pixels) { return addAll(file, pixels); });
  }

 private:
  float bounded(float size) const { return std::round(size * std::min(scale_, largest_)); }

  /// Adds a font of at most that many pixels, and makes it as large as it is drawn.
  template <typename Add>
  ImFont* sized(float size, float largest, Add addFont) {
    const float wanted = std::round(size * scale_);
    const float pixels = compat::kAtlasTakesAnySize ? wanted : std::min(wanted, largest);
    ImFont* const font = addFont(pixels);
    compat::enlarge(font, wanted / pixels);
    return font;
  }

  ImFont* addAll(const std::string& file, float pixels) {
    ImFont* font = addBase(file, pixels, latinRanges());
    ImFontConfig config = plainConfig();
    config.MergeMode = true;
    addFile(file, pixels, config, symbolRanges_.Data);
    for (const auto& [fallback, ranges] : fallbacks_)
      if (fallback != file) addFile(fallback, pixels, config, ranges.Data);
    return font;
  }

  ImFont* addBase(const std::string& file, float pixels, const ImWchar* ranges) {
    ImFontConfig config = plainConfig();
    if (ImFont* font = addFile(file, pixels, config, ranges)) {
      sources_[font] = {file, files_.bytes.at(file)};
      return font;
    }
    config.SizePixels = pixels;
    return atlas_.AddFontDefault(&config);
  }

  /// Returns null if the file couldn't be read.
  ImFont* addFile(const std::string& file, float pixels, ImFontConfig config, const ImWchar* ranges) {
    const auto found = files_.bytes.find(file);
    if (found == files_.bytes.end()) return nullptr;
    return compat::addFont(atlas_, found->second->data(), found->second->size(), pixels, config, ranges);
  }

  static ImFontConfig plainConfig() {
    ImFontConfig config;
    config.PixelSnapH = false;
    config.OversampleH = config.OversampleV = 1;
    return config;
  }

  ImFontAtlas& atlas_;
  float scale_, largest_;
  const FontBook::Files& files_;
  std::map<const ImFont*, AtlasSource>& sources_;
  ImVector<ImWchar> symbolRanges_;  // the atlas keeps pointers to ranges until it is built
  std::vector<std::pair<std::string, ImVector<ImWchar>>> fallbacks_;
};

}  // namespace

FontBook::FontBook(float scale)
    : atlas_(std::make_unique<ImFontAtlas>()),
      ahead_(std::async(attention::kHasThreads ? std::launch::async : std::launch::deferred, [this, scale] {
        files_ = Files::find();
        if (attention::kHasThreads && compat::kBuildsAtlasAhead) make(scale);
      })) {}

FontBook::~FontBook() {
  if (ahead_.valid()) ahead_.wait();
}

void FontBook::build() {
  if (ahead_.valid()) ahead_.get();
  if (builtScale_ != scale_) make(scale_);
}

void FontBook::make(float scale) {
  // Fonts that are wider than those usually found may need more room.
  for (float largest = kMaxFontScale; largest >= 1; largest /= 1.5f) {
    fill(scale, largest);
    if (compat::atlasHeight(*atlas_) <= kMaxAtlasHeight) break;
  }
  builtScale_ = scale;
}

void FontBook::fill(float scale, float largest) {
  atlas_->Clear();
  compat::useFreeType(*atlas_);
  atlas_->TexGlyphPadding = 1;
  sources_.clear();
  AtlasBuilder builder(*atlas_, scale, largest, *files_, sources_);
  const std::string &regular = files_->words, &semibold = files_->boldWords, &mono = files_->tokens;
  fonts_.text = builder.add(regular, 15);
  fonts_.small = fonts_.script = builder.add(regular, 12);
  fonts_.smallBold = builder.add(semibold, 12);
  fonts_.bold = builder.add(semibold, 15);
  fonts_.reading = builder.add(regular, 17);
  fonts_.title = builder.add(semibold, 17);
  fonts_.hero = builder.add(semibold, 22);
  fonts_.monoSmall = builder.add(mono, 12);
  fonts_.mono = builder.add(mono, 15);
  fonts_.monoTitle = builder.add(mono, 17);
  fonts_.monoHero = builder.add(mono, 22);
  fonts_.sentence = builder.addLatin(regular, 28, true);
  fonts_.sentenceSmall = builder.addLatin(regular, 23, true);
  fonts_.display = builder.addLatin(semibold, 56);
  fonts_.displaySmall = builder.addLatin(semibold, 40);
  compat::buildAtlas(*atlas_);
}

}  // namespace headscope::app
