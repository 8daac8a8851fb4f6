#include "app/platform/fonts.h"

#include <algorithm>
#include <cmath>

#include "app/platform/font_match.h"
#include "app/platform/imgui_compat.h"
#include "app/platform/utf8.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

namespace {

// Symbols the interface itself uses, beyond Latin.
// clang-format off
constexpr const char* kSymbols =
    "λᵀ√·Σ→←↑↓−×÷≤≥≠≈±∘∞₀₁₂₃₄₅₆₇₈₉₊₋ₖ⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁱʲ⌊⌋…–—‘’“”␣Δ‖∈▁▶⏸◀•‹›✓⌘↵αβθ∧∨¬⅓⅔⅕⅙⅚⅛⅜⅝⅞"
    "γδεμπσωᴴ′⊙⋯⌈⌉✗ⁿⱼ�";
// clang-format on

std::vector<unsigned> codepoints(std::string_view text) {
  std::vector<unsigned> result;
  eachCodepoint(text, [&](std::uint32_t code, std::string_view) { result.push_back(code); });
  return result;
}

/// A font's file and the characters that it has.
struct FontFace {
  std::string file;  ///< empty where there is none
  CharacterSet characters;

  bool has(unsigned code) const { return characters && FcCharSetHasChar(characters.get(), code); }
};

FontFace findFont(FcPattern* wanted) {
  FcConfigSubstitute(nullptr, wanted, FcMatchPattern);
  FcDefaultSubstitute(wanted);
  FcResult result;
  const FontPattern match(FcFontMatch(nullptr, wanted, &result));
  FcChar8* file = nullptr;
  if (!match || FcPatternGetString(match.get(), FC_FILE, 0, &file) != FcResultMatch) return {};
  FcCharSet* characters = nullptr;
  FcPatternGetCharSet(match.get(), FC_CHARSET, 0, &characters);
  return {reinterpret_cast<const char*>(file),
          CharacterSet(characters ? FcCharSetCopy(characters) : nullptr)};
}

/// The font fontconfig picks for the first installed of the families.
FontFace fontOf(const char* family, const char* fallback, int weight) {
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
  return findFont(wanted.get()).file;
}

const ImWchar* latinRanges() {
  static const ImWchar ranges[] = {0x20, 0x7E, 0xA0, 0x17F, 0};
  return ranges;
}

/// Fonts of the atlas with their fallbacks merged in.
class AtlasBuilder {
 public:
  /// `files` keeps what was read; it has to outlive the atlas. Symbols that one of `faces` lacks are looked
  /// for among all installed fonts.
  AtlasBuilder(float scale, FontFiles& files, std::map<const ImFont*, AtlasSource>& sources,
               std::initializer_list<const FontFace*> faces)
      : scale_(scale), files_(files), sources_(sources) {
    const std::vector<unsigned> wanted = codepoints(kSymbols);
    ImFontGlyphRangesBuilder all;
    for (unsigned code : wanted) all.AddChar(static_cast<ImWchar>(code));
    all.BuildRanges(&symbolRanges_);
    std::map<std::string, ImFontGlyphRangesBuilder> byFile;
    for (unsigned code : wanted) {
      if (std::all_of(faces.begin(), faces.end(), [&](const FontFace* face) { return face->has(code); }))
        continue;
      if (const std::string file = fontWith(code); !file.empty())
        byFile[file].AddChar(static_cast<ImWchar>(code));
    }
    fallbacks_.reserve(byFile.size());
    for (auto& [file, characters] : byFile) {
      fallbacks_.emplace_back().first = file;
      characters.BuildRanges(&fallbacks_.back().second);
    }
  }

  /// Without symbols and other scripts, which at large sizes would fill the atlas.
  ImFont* addLatin(const std::string& file, float size) {
    static const ImWchar ranges[] = {0x20, 0x7E, 0xB0, 0xBF, 0};
    return addBase(file, std::round(size * scale_), ranges);
  }

  ImFont* add(const std::string& file, float size) {
    const float pixels = std::round(size * scale_);
    ImFont* font = addBase(file, pixels, latinRanges());
    ImFontConfig config = plainConfig();
    config.MergeMode = true;
    addFile(file, pixels, config, symbolRanges_.Data);
    for (const auto& [fallback, ranges] : fallbacks_)
      if (fallback != file) addFile(fallback, pixels, config, ranges.Data);
    return font;
  }

 private:
  ImFont* addBase(const std::string& file, float pixels, const ImWchar* ranges) {
    ImFontConfig config = plainConfig();
    if (ImFont* font = addFile(file, pixels, config, ranges)) {
      sources_[font] = {file, files_.at(file)};
      return font;
    }
    config.SizePixels = pixels;
    return ImGui::GetIO().Fonts->AddFontDefault(&config);
  }

  /// None where the file can't be read. Each is read once for all sizes that are made of it.
  ImFont* addFile(const std::string& file, float pixels, ImFontConfig config, const ImWchar* ranges) {
    if (file.empty()) return nullptr;
    auto found = files_.find(file);
    if (found == files_.end()) {
      auto read = attention::readFile(file);
      FontBytes bytes;
      if (read.ok()) bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(read).value());
      found = files_.emplace(file, std::move(bytes)).first;
    }
    const FontBytes& bytes = found->second;
    if (!bytes || bytes->empty()) return nullptr;
    config.FontDataOwnedByAtlas = false;  // so that it isn't written to either
    return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(
        const_cast<std::uint8_t*>(bytes->data()), static_cast<int>(bytes->size()), pixels, &config, ranges);
  }

  static ImFontConfig plainConfig() {
    ImFontConfig config;
    config.PixelSnapH = false;
    config.OversampleH = config.OversampleV = 1;
    return config;
  }

  float scale_;
  FontFiles& files_;
  std::map<const ImFont*, AtlasSource>& sources_;
  ImVector<ImWchar> symbolRanges_;  // the atlas keeps pointers to ranges until it is built
  std::vector<std::pair<std::string, ImVector<ImWchar>>> fallbacks_;
};

}  // namespace

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
  const FontFace words = fontOf("Inter", "DejaVu Sans", FC_WEIGHT_REGULAR);
  const FontFace boldWords = fontOf("Inter", "DejaVu Sans", FC_WEIGHT_DEMIBOLD);
  const FontFace tokens = fontOf("JetBrains Mono", "DejaVu Sans Mono", FC_WEIGHT_REGULAR);
  sources_.clear();
  AtlasBuilder builder(scale_, files_, sources_, {&words, &boldWords, &tokens});
  const std::string &regular = words.file, &semibold = boldWords.file, &mono = tokens.file;
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
  compat::buildAtlas(atlas);
}

}  // namespace headscope::app
