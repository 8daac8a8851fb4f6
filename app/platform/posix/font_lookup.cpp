#include <fontconfig/fontconfig.h>

#include "app/platform/fonts.h"

namespace headscope::app {

namespace {

// Frees fontconfig's objects.
struct FontMatchDeleter {
  void operator()(FcPattern* p) const { FcPatternDestroy(p); }
  void operator()(FcCharSet* p) const { FcCharSetDestroy(p); }
};
using FontPattern = std::unique_ptr<FcPattern, FontMatchDeleter>;
using CharacterSet = std::unique_ptr<FcCharSet, FontMatchDeleter>;

FontPattern matchOf(FcPattern* wanted) {
  FcConfigSubstitute(nullptr, wanted, FcMatchPattern);
  FcDefaultSubstitute(wanted);
  FcResult result;
  return FontPattern(FcFontMatch(nullptr, wanted, &result));
}

std::string fileOf(FcPattern* match) {
  FcChar8* file = nullptr;
  if (!match || FcPatternGetString(match, FC_FILE, 0, &file) != FcResultMatch) return "";
  return reinterpret_cast<const char*>(file);
}

FcCharSet* charactersOf(FcPattern* match) {
  FcCharSet* characters = nullptr;
  return match && FcPatternGetCharSet(match, FC_CHARSET, 0, &characters) == FcResultMatch ? characters
                                                                                          : nullptr;
}

/// Returns the characters the font should have. Of two fonts, fontconfig prefers the one with more of them.
CharacterSet wishedCharacters(const FontRequest& request) {
  CharacterSet set(FcCharSetCreate());
  if (request.code != 0) {
    FcCharSetAddChar(set.get(), request.code);
    return set;
  }
  constexpr std::uint32_t kLastAssigned = 0x3FFFF;  // then only tags and private use, in no script
  hb_unicode_funcs_t* const unicode = hb_unicode_funcs_get_default();
  for (std::uint32_t code = 0; code <= kLastAssigned; ++code)
    if (hb_unicode_script(unicode, code) == request.script) FcCharSetAddChar(set.get(), code);
  return set;
}

FontPlace matchFont(const FontRequest& request, FcBool colored) {
  const CharacterSet characters = wishedCharacters(request);
  const FontPattern pattern(FcPatternCreate());
  FcPatternAddCharSet(pattern.get(), FC_CHARSET, characters.get());
  FcPatternAddBool(pattern.get(), FC_COLOR, colored);
  if (!colored) FcPatternAddBool(pattern.get(), FC_SCALABLE, FcTrue);
  FcPatternAddInteger(pattern.get(), FC_WEIGHT, FC_WEIGHT_REGULAR);
  FcPatternAddInteger(pattern.get(), FC_SLANT, FC_SLANT_ROMAN);
  const FontPattern match = matchOf(pattern.get());
  FcCharSet* const has = charactersOf(match.get());
  if (!has || FcCharSetIntersectCount(has, characters.get()) == 0) return {};
  FontPlace found{fileOf(match.get()), 0};
  if (!found.path.empty()) FcPatternGetInteger(match.get(), FC_INDEX, 0, &found.index);
  return found;
}

}  // namespace

struct FontLookup::State {};

FontLookup::FontLookup() = default;
FontLookup::~FontLookup() = default;

/// Once for the process: other threads may be looking fonts up.
void FontLookup::addFolder(const std::string& folder) {
  if (const FcFontSet* const added = FcConfigGetFonts(nullptr, FcSetApplication))
    for (int i = 0; i < added->nfont; ++i) {
      FcChar8* file = nullptr;
      if (FcPatternGetString(added->fonts[i], FC_FILE, 0, &file) == FcResultMatch &&
          std::string_view(reinterpret_cast<const char*>(file)).starts_with(folder))
        return;
    }
  FcConfigAppFontAddDir(nullptr, reinterpret_cast<const FcChar8*>(folder.c_str()));
}

FontFace FontLookup::face(const char* family, const char* fallback, FontWeight weight) const {
  const FontPattern wanted(FcPatternCreate());
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>(family));
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>(fallback));
  FcPatternAddInteger(wanted.get(), FC_WEIGHT,
                      weight == FontWeight::regular ? FC_WEIGHT_REGULAR : FC_WEIGHT_DEMIBOLD);
  FcPatternAddInteger(wanted.get(), FC_SLANT, FC_SLANT_ROMAN);
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  const FontPattern match = matchOf(wanted.get());
  FcCharSet* const characters = charactersOf(match.get());
  const std::shared_ptr<FcCharSet> set(characters ? FcCharSetCopy(characters) : nullptr, [](FcCharSet* own) {
    if (own) FcCharSetDestroy(own);
  });
  return {fileOf(match.get()),
          [set](std::uint32_t code) { return set && FcCharSetHasChar(set.get(), code); }};
}

std::string FontLookup::fileWith(std::uint32_t code) const {
  const CharacterSet set(FcCharSetCreate());
  FcCharSetAddChar(set.get(), code);
  const FontPattern wanted(FcPatternCreate());
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, set.get());
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  FcPatternAddBool(wanted.get(), FC_COLOR, FcFalse);
  return fileOf(matchOf(wanted.get()).get());
}

FontPlace FontLookup::find(const FontRequest& request) const {
  if (request.colored)
    if (FontPlace found = matchFont(request, FcTrue); !found.path.empty()) return found;
  return matchFont(request, FcFalse);
}

}  // namespace headscope::app
