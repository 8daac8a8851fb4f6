#pragma once

#include <future>
#include <map>
#include <memory>
#include <string>

#include "app/platform/typesetter.h"

namespace headscope::app {

/// The typefaces in each size: Inter for words, JetBrains Mono for tokens and numbers.
struct Fonts {
  ImFont* small = nullptr;  ///< 12
  ImFont* smallBold = nullptr;
  ImFont* text = nullptr;  ///< 15
  ImFont* bold = nullptr;
  ImFont* reading = nullptr;       ///< 17, for longer texts
  ImFont* title = nullptr;         ///< 17, semibold
  ImFont* hero = nullptr;          ///< 22, semibold
  ImFont* monoSmall = nullptr;     ///< 12
  ImFont* mono = nullptr;          ///< 15
  ImFont* monoTitle = nullptr;     ///< 17
  ImFont* monoHero = nullptr;      ///< 22
  ImFont* display = nullptr;       ///< 56, basic Latin and digits only: one large figure per page
  ImFont* displaySmall = nullptr;  ///< 40, the same for small windows
};

/// Dear ImGui's font atlas for a scale, with Latin and the interface's symbols. The Typesetter handles all
/// other characters. Beyond a size that any device supports, letters are in it smaller than they are drawn.
class FontBook {
 public:
  /// Starts another thread that finds the families, reads their files and those with symbols they lack, and
  /// builds the atlas for `scale`, so that it is ready when the window is.
  explicit FontBook(float scale = 1);
  ~FontBook();

  /// The atlas for creating Dear ImGui's context, possibly not built yet.
  ImFontAtlas& atlas() { return *atlas_; }
  void setScale(float scale) { scale_ = scale; }
  /// Waits for the other thread, and rebuilds the atlas if the scale has changed.
  void build();

  /// The fonts are null before the first build.
  const Fonts& fonts() const { return fonts_; }
  /// The source file of each font.
  const std::map<const ImFont*, AtlasSource>& sources() const { return sources_; }
  float scale() const { return scale_; }

  struct Files;

 private:
  void make(float scale);
  void fill(float scale, float largest);

  float scale_ = 0, builtScale_ = 0;
  std::unique_ptr<ImFontAtlas> atlas_;
  std::shared_ptr<const Files> files_;  ///< the atlas points into it
  Fonts fonts_;
  std::map<const ImFont*, AtlasSource> sources_;
  std::future<void> ahead_;  ///< writes the members above
};

}  // namespace headscope::app
