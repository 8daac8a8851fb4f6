#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/platform/typeface.h"

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

}  // namespace headscope::app
