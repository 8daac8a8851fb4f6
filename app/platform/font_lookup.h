#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/platform/typeface.h"

namespace headscope::app {

/// A font that is looked for: the one that has most of a script, or one that has a character.
struct FontWish {
  hb_script_t script = HB_SCRIPT_INVALID;
  std::uint32_t code = 0;  ///< 0 = the whole script
  bool colored = false;    ///< one in colour first
  auto operator<=>(const FontWish&) const = default;
};

/// A font's file and the characters that it has.
struct FontFace {
  std::string file;  ///< empty where there is none
  std::function<bool(std::uint32_t)> characters;

  bool has(std::uint32_t code) const { return characters && characters(code); }
};

/// A file, and which of its fonts.
struct FontPlace {
  std::string path;  ///< empty where there is none
  int index = 0;
};

enum class FontWeight { regular, semibold };

/// The fonts there are: what fontconfig knows; in a browser those in the program's own folder. For one
/// thread.
class FontLookup {
 public:
  FontLookup();
  ~FontLookup();
  FontLookup(const FontLookup&) = delete;
  FontLookup& operator=(const FontLookup&) = delete;

  /// From now on those in that folder, too; one that isn't there has none.
  void addFolder(const std::string& folder);
  /// The font of the first family that is there.
  FontFace face(const char* family, const char* fallback, FontWeight weight) const;
  /// A scalable font without colours that has the character.
  std::string fileWith(std::uint32_t code) const;
  /// The best for the wish; without a path where none has any of its characters.
  FontPlace find(const FontWish& wish) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headscope::app
