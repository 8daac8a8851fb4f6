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

/// Builds an atlas of Dear ImGui's for a scale: Latin and the interface's own symbols. All else is the
/// Typesetter's.
class FontBook {
 public:
  /// Begins on another thread to look the families up through fontconfig, to read their files and those with
  /// symbols that they lack, and to build the atlas for `scale`, so that it is there once a window is.
  explicit FontBook(float scale = 1);
  ~FontBook();

  /// What Dear ImGui's context is made with, before it is built.
  ImFontAtlas& atlas() { return *atlas_; }
  void setScale(float scale) { scale_ = scale; }
  /// Waits for the other thread, and rebuilds the atlas where it is of another scale.
  void build();

  /// Null before the first build.
  const Fonts& fonts() const { return fonts_; }
  /// The file behind each of them.
  const std::map<const ImFont*, AtlasSource>& sources() const { return sources_; }
  float scale() const { return scale_; }

  struct Files;

 private:
  void make(float scale);

  float scale_ = 0, builtScale_ = 0;
  std::unique_ptr<ImFontAtlas> atlas_;
  std::shared_ptr<const Files> files_;  ///< which the atlas points into
  Fonts fonts_;
  std::map<const ImFont*, AtlasSource> sources_;
  std::future<void> ahead_;  ///< which writes the members above
};

}  // namespace headscope::app
