#pragma once

#include <future>
#include <map>
#include <memory>
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

/// Builds Dear ImGui's atlas for a scale: Latin and the interface's own symbols. All else is the
/// Typesetter's.
class FontBook {
 public:
  /// Begins to look the families up through fontconfig, and to read their files and those with symbols that
  /// they lack, on another thread.
  FontBook();
  ~FontBook();

  /// True if `scale` differs from what was built.
  bool setScale(float scale);
  /// Rebuilds ImGui's atlas. The first time it waits for the files, without which nothing can be drawn.
  void build();

  const Fonts& fonts() const { return fonts_; }
  /// The file behind each of them.
  const std::map<const ImFont*, AtlasSource>& sources() const { return sources_; }
  float scale() const { return scale_; }

  struct Files;

 private:
  float scale_ = 0;
  std::future<std::shared_ptr<const Files>> finding_;
  std::shared_ptr<const Files> files_;  ///< which the atlas points into
  Fonts fonts_;
  std::map<const ImFont*, AtlasSource> sources_;
};

}  // namespace headscope::app
