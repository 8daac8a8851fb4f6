#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "app/platform/system_font.h"
#include "attention/formats/files/file_io.h"

// Looks up the fonts that the program brings, in a browser's page and on Windows.

namespace headscope::app {

namespace {

struct SetDeleter {
  void operator()(hb_set_t* set) const { hb_set_destroy(set); }
};
using CharacterSet = std::shared_ptr<hb_set_t>;

CharacterSet charactersOf(const std::filesystem::path& file) {
  CharacterSet set(hb_set_create(), SetDeleter());
  const auto bytes = attention::readFile(file);
  if (!bytes) return set;
  hb_blob_t* const blob =
      hb_blob_create(reinterpret_cast<const char*>(bytes->data()), static_cast<unsigned>(bytes->size()),
                     HB_MEMORY_MODE_READONLY, nullptr, nullptr);
  hb_face_t* const face = hb_face_create(blob, 0);
  hb_face_collect_unicodes(face, set.get());
  hb_face_destroy(face);
  hb_blob_destroy(blob);
  return set;
}

/// Returns "InterSemiBold" for both "Inter-SemiBold" and "Inter SemiBold".
std::string plainName(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (c != ' ' && c != '-') plain += c;
  return plain;
}

}  // namespace

struct FontLookup::State {
  struct Font {
    std::string path, name;
    CharacterSet characters;
  };
  std::vector<Font> fonts;
};

FontLookup::FontLookup() : state_(std::make_unique<State>()) {}
FontLookup::~FontLookup() = default;

void FontLookup::addFolder(const std::string& folder) {
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(folder, ignored))
    if (file.path().extension() == ".ttf" || file.path().extension() == ".otf")
      state_->fonts.push_back(
          {file.path().string(), plainName(file.path().stem().string()), charactersOf(file.path())});
  std::sort(state_->fonts.begin(), state_->fonts.end(),
            [](const State::Font& a, const State::Font& b) { return a.name < b.name; });
}

FontFace FontLookup::face(const char* family, const char* fallback, FontWeight weight) const {
  const char* const cut = weight == FontWeight::regular ? "Regular" : "SemiBold";
  for (const std::string& wanted : {plainName(family) + cut, plainName(family), plainName(fallback)})
    for (const State::Font& font : state_->fonts)
      if (font.name == wanted)
        return {font.path,
                [set = font.characters](std::uint32_t code) { return hb_set_has(set.get(), code) != 0; }};
  return {};
}

std::string FontLookup::fileWith(std::uint32_t code) const {
  return find({HB_SCRIPT_INVALID, code, false}).path;
}

FontPlace FontLookup::find(const FontRequest& request) const {
  const State::Font* best = nullptr;
  unsigned most = 0;
  hb_unicode_funcs_t* const unicode = hb_unicode_funcs_get_default();
  for (const State::Font& font : state_->fonts) {
    unsigned has = 0;
    if (request.code != 0) {
      has = hb_set_has(font.characters.get(), request.code) != 0;
    } else {
      for (hb_codepoint_t code = HB_SET_VALUE_INVALID; hb_set_next(font.characters.get(), &code);)
        has += hb_unicode_script(unicode, code) == request.script;
    }
    if (has > most) {
      most = has;
      best = &font;
    }
  }
  return best ? FontPlace{best->path, 0} : systemFont(request);
}

}  // namespace headscope::app
