#pragma once

#include <map>
#include <string>

#include "app/platform/typesetter.h"

namespace headscope::app {

/// The typefaces at their sizes: Inter for words, JetBrains Mono for tokens and numbers.
struct Fonts {
  ImFont* small = nullptr;  ///< 12
  ImFont* smallBold = nullptr;
  ImFont* text = nullptr;  ///< 15
  ImFont* bold = nullptr;
  ImFont* reading = nullptr;       ///< 17: a text that is read
  ImFont* title = nullptr;         ///< 17, semibold
  ImFont* hero = nullptr;          ///< 22, semibold
  ImFont* monoSmall = nullptr;     ///< 12
  ImFont* mono = nullptr;          ///< 15
  ImFont* monoTitle = nullptr;     ///< 17
  ImFont* monoHero = nullptr;      ///< 22
  ImFont* display = nullptr;       ///< 56, Latin letters and digits alone: one figure a page
  ImFont* displaySmall = nullptr;  ///< 40: the same where the window is small
};

/// The bytes of font files by their paths; null for those that can't be read.
using FontFiles = std::map<std::string, FontBytes>;

/// Builds Dear ImGui's atlas for a scale: Latin and the interface's own symbols. All else is the
/// Typesetter's.
class FontBook {
 public:
  /// True if `scale` differs from what was built.
  bool setScale(float scale);
  /// Rebuilds ImGui's atlas. Families are looked up through fontconfig; symbols they lack come from whatever
  /// installed font has them. Files are read once.
  void build();

  const Fonts& fonts() const { return fonts_; }
  /// The file behind each of them.
  const std::map<const ImFont*, AtlasSource>& sources() const { return sources_; }
  float scale() const { return scale_; }

 private:
  float scale_ = 0;
  FontFiles files_;  ///< which the atlas points into
  Fonts fonts_;
  std::map<const ImFont*, AtlasSource> sources_;
};

}  // namespace headscope::app
