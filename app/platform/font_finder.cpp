#include "app/platform/font_finder.h"

#include <map>
#include <utility>

#include "app/platform/font_match.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

namespace {

/// The characters that have to be in the font, so that of two the one with more of them is taken.
CharacterSet wishedCharacters(const FontWish& wish) {
  CharacterSet set(FcCharSetCreate());
  if (wish.code != 0) {
    FcCharSetAddChar(set.get(), wish.code);
    return set;
  }
  constexpr std::uint32_t kLastAssigned = 0x3FFFF;  // but for tags and private use, which are of no script
  hb_unicode_funcs_t* const unicode = hb_unicode_funcs_get_default();
  for (std::uint32_t code = 0; code <= kLastAssigned; ++code)
    if (hb_unicode_script(unicode, code) == wish.script) FcCharSetAddChar(set.get(), code);
  return set;
}

/// The best of fontconfig's; without a path where it has none of the characters.
FoundFont matchFont(const FontWish& wish, FcBool colored) {
  const CharacterSet characters = wishedCharacters(wish);
  const FontPattern pattern(FcPatternCreate());
  FcPatternAddCharSet(pattern.get(), FC_CHARSET, characters.get());
  FcPatternAddBool(pattern.get(), FC_COLOR, colored);
  if (!colored) FcPatternAddBool(pattern.get(), FC_SCALABLE, FcTrue);
  FcPatternAddInteger(pattern.get(), FC_WEIGHT, FC_WEIGHT_REGULAR);
  FcPatternAddInteger(pattern.get(), FC_SLANT, FC_SLANT_ROMAN);
  FcConfigSubstitute(nullptr, pattern.get(), FcMatchPattern);
  FcDefaultSubstitute(pattern.get());
  FcResult result;
  const FontPattern match(FcFontMatch(nullptr, pattern.get(), &result));
  FcChar8* file = nullptr;
  FcCharSet* has = nullptr;
  FoundFont found{wish, {}, 0, nullptr};
  if (!match || FcPatternGetCharSet(match.get(), FC_CHARSET, 0, &has) != FcResultMatch ||
      FcCharSetIntersectCount(has, characters.get()) == 0 ||
      FcPatternGetString(match.get(), FC_FILE, 0, &file) != FcResultMatch)
    return found;
  found.path = reinterpret_cast<const char*>(file);
  FcPatternGetInteger(match.get(), FC_INDEX, 0, &found.index);
  return found;
}

FoundFont findWished(const FontWish& wish) {
  if (wish.colored)
    if (FoundFont found = matchFont(wish, FcTrue); !found.path.empty()) return found;
  return matchFont(wish, FcFalse);
}

}  // namespace

FontFinder::~FontFinder() = default;

void FontFinder::ask(const FontWish& wish) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(wish);
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::jthread([this](std::stop_token quit) { serve(quit); });
}

std::vector<FoundFont> FontFinder::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

void FontFinder::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

void FontFinder::serve(std::stop_token quit) {
  std::map<std::string, FontBytes> read;  // one file answers many wishes
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, quit, [this] { return !waiting_.empty(); })) {
    const FontWish wish = waiting_.front();
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    FoundFont found = findWished(wish);
    if (!found.path.empty()) {
      FontBytes& bytes = read[found.path];
      if (!bytes)
        if (auto file = attention::readFile(found.path); file.ok())
          bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(file).value());
      found.bytes = bytes;
    }
    lock.lock();
    answers_.push_back(std::move(found));
    busy_ = false;
    changed_.notify_all();
    lock.unlock();
    wake_();
    lock.lock();
  }
}

}  // namespace headscope::app
