#include "app/platform/fonts.h"

#include <cmath>
#include <map>
#include <vector>

#include "app/platform/font_match.h"
#include "app/platform/imgui_compat.h"
#include "app/platform/ui_state.h"
#include "app/platform/wide_glyphs.h"

namespace headscope::app {

namespace {

// Symbols the interface itself uses, beyond Latin.
// clang-format off
constexpr const char* kSymbols =
    "λᵀ√·Σ→←↑↓−×÷≤≥≠≈±∘∞₀₁₂₃₄₅₆₇₈₉₊₋ₖ⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁱʲ⌊⌋…–—‘’“”␣Δ‖∈▁▶⏸◀•‹›✓⌘↵αβθ∧∨¬⅓⅔⅕⅙⅚⅛⅜⅝⅞"
    "�";
// clang-format on

std::vector<unsigned> codepoints(std::string_view text) {
  std::vector<unsigned> result;
  eachCodepoint(text, [&](std::uint32_t code, std::string_view) { result.push_back(code); });
  return result;
}

std::string fileOf(FcPattern* match) {
  FcChar8* file = nullptr;
  if (!match || FcPatternGetString(match, FC_FILE, 0, &file) != FcResultMatch) return {};
  return reinterpret_cast<const char*>(file);
}

std::string findFont(FcPattern* wanted) {
  FcConfigSubstitute(nullptr, wanted, FcMatchPattern);
  FcDefaultSubstitute(wanted);
  FcResult result;
  const FontPattern match(FcFontMatch(nullptr, wanted, &result));
  return fileOf(match.get());
}

/// The file fontconfig picks for the first installed of the families.
std::string fontFile(const char* family, const char* fallback, int weight) {
  const FontPattern wanted(FcPatternCreate());
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>(family));
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>(fallback));
  FcPatternAddInteger(wanted.get(), FC_WEIGHT, weight);
  FcPatternAddInteger(wanted.get(), FC_SLANT, FC_SLANT_ROMAN);
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  return findFont(wanted.get());
}

std::string fontWith(unsigned character) {
  const CharacterSet set(FcCharSetCreate());
  FcCharSetAddChar(set.get(), character);
  const FontPattern wanted(FcPatternCreate());
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, set.get());
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  FcPatternAddBool(wanted.get(), FC_COLOR, FcFalse);
  return findFont(wanted.get());
}

const ImWchar* latinRanges() {
  static const ImWchar ranges[] = {0x20, 0x7E, 0xA0, 0x17F, 0};
  return ranges;
}

/// One font of the atlas with its fallbacks merged in. `fallbacks` maps files to the ranges taken from them.
class AtlasBuilder {
 public:
  AtlasBuilder(float scale, const std::set<unsigned>& extra) : scale_(scale) {
    ImFontGlyphRangesBuilder all;
    all.AddText(kSymbols);
    for (unsigned code : extra) all.AddChar(static_cast<ImWchar>(code));
    all.BuildRanges(&extraRanges_);
    std::map<std::string, std::vector<unsigned>> byFile;
    std::vector<unsigned> wanted = codepoints(kSymbols);
    wanted.insert(wanted.end(), extra.begin(), extra.end());
    for (unsigned code : wanted)
      if (std::string file = fontWith(code); !file.empty()) byFile[file].push_back(code);
    fallbacks_.reserve(byFile.size());
    for (const auto& [file, codes] : byFile) {
      ImFontGlyphRangesBuilder ranges;
      for (unsigned code : codes) ranges.AddChar(static_cast<ImWchar>(code));
      fallbacks_.emplace_back().first = file;
      ranges.BuildRanges(&fallbacks_.back().second);
    }
  }

  /// Without symbols and other scripts, which at large sizes would fill the atlas.
  ImFont* addLatin(const std::string& file, float size) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    ImFontConfig config = plainConfig();
    const float pixels = std::round(size * scale_);
    static const ImWchar ranges[] = {0x20, 0x7E, 0xB0, 0xBF, 0};
    ImFont* font = file.empty() ? nullptr : atlas.AddFontFromFileTTF(file.c_str(), pixels, &config, ranges);
    if (font) return font;
    config.SizePixels = pixels;
    return atlas.AddFontDefault(&config);
  }

  ImFont* add(const std::string& file, float size) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    const float pixels = std::round(size * scale_);
    ImFontConfig config = plainConfig();
    ImFont* font =
        file.empty() ? nullptr : atlas.AddFontFromFileTTF(file.c_str(), pixels, &config, latinRanges());
    if (!font) {
      config.SizePixels = pixels;
      font = atlas.AddFontDefault(&config);
    }
    config.MergeMode = true;
    if (!file.empty()) atlas.AddFontFromFileTTF(file.c_str(), pixels, &config, extraRanges_.Data);
    for (const auto& [fallback, ranges] : fallbacks_)
      if (fallback != file) atlas.AddFontFromFileTTF(fallback.c_str(), pixels, &config, ranges.Data);
    return font;
  }

 private:
  static ImFontConfig plainConfig() {
    ImFontConfig config;
    config.PixelSnapH = false;
    config.OversampleH = config.OversampleV = 1;
    return config;
  }

  float scale_;
  ImVector<ImWchar> extraRanges_;  // the atlas keeps pointers to ranges until it is built
  std::vector<std::pair<std::string, ImVector<ImWchar>>> fallbacks_;
};

}  // namespace

namespace {
/// Distinct characters beyond U+FFFF that get a glyph: each takes room in every font.
constexpr std::size_t kMaxWide = 256;
}  // namespace

bool FontBook::need(std::string_view text) {
  bool added = false;
  for (unsigned code : codepoints(text)) {
    const bool base = code < 0x180 || code > 0xFFFF || (code >= 0xD800 && code < 0xE000);
    if (!base) added = extra_.insert(code).second || added;
    if (code > 0xFFFF && wide_.size() < kMaxWide) added = wide_.insert(code).second || added;
  }
  return added;
}

bool FontBook::setScale(float scale) {
  if (scale == scale_) return false;
  scale_ = scale;
  return true;
}

void FontBook::build() {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  compat::useFreeType(atlas);
  atlas.TexGlyphPadding = 1;
  AtlasBuilder builder(scale_, extra_);
  const std::string regular = fontFile("Inter", "DejaVu Sans", FC_WEIGHT_REGULAR);
  const std::string semibold = fontFile("Inter", "DejaVu Sans", FC_WEIGHT_DEMIBOLD);
  const std::string mono = fontFile("JetBrains Mono", "DejaVu Sans Mono", FC_WEIGHT_REGULAR);
  fonts_.text = builder.add(regular, 15);
  fonts_.small = builder.add(regular, 12);
  fonts_.smallBold = builder.add(semibold, 12);
  fonts_.bold = builder.add(semibold, 15);
  fonts_.reading = builder.add(regular, 17);
  fonts_.title = builder.add(semibold, 17);
  fonts_.hero = builder.add(semibold, 22);
  fonts_.monoSmall = builder.add(mono, 12);
  fonts_.mono = builder.add(mono, 15);
  fonts_.monoTitle = builder.add(mono, 17);
  fonts_.monoHero = builder.add(mono, 22);
  fonts_.display = builder.addLatin(semibold, 56);
  fonts_.displaySmall = builder.addLatin(semibold, 40);
  UiState& state = uiState();
  std::vector<WideCharacter> characters;
  for (const unsigned code : wide_) characters.push_back({code, state.standIns.editableCharacter(code)});
  WideGlyphs glyphs;
  glyphs.reserve(atlas, characters,
                 {fonts_.text, fonts_.small, fonts_.smallBold, fonts_.bold, fonts_.reading, fonts_.title,
                  fonts_.hero, fonts_.monoSmall, fonts_.mono, fonts_.monoTitle});
  compat::buildAtlas(atlas);
  glyphs.draw(atlas);
  state.wide.clear();
  for (const WideCharacter& each : glyphs.drawn()) state.wide[each.code] = each.standIn;
}

}  // namespace headscope::app
