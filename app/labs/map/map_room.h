#pragma once

#include "app/labs/map/map_screen.h"

namespace headscope::app {

/// The map page's workplace: its job, its tiles in memory and on the GPU, and what its panels show. On the
/// calling thread, like the session that owns it.
class MapRoom {
 public:
  static constexpr std::uint64_t kTileBudget = std::uint64_t{256} << 20;

  MapRoom(Workers& workers, Resources& resources);

  /// Takes what is new; true if there was a new head. Without `quick`, frames take as long as they need.
  bool beginFrame(View& view, bool quick);
  /// Asks for what the panels looked at; on another page, for nothing.
  void endFrame(const Scene& scene);
  bool busy() const { return screen_.progress.seconds > 0; }
  /// Whether something that is there could not be drawn in the last frame.
  bool unfinished() const { return textures_.unfinished(); }
  const MapScreen& screen() const { return screen_; }
  std::size_t gpuBytes() const { return textures_.bytes(); }

 private:
  TileCache cache_;
  MapTextures textures_;
  MapScreen screen_;
  MapJob job_;  // last: it ends before anything it touches goes
};

/// The head whose map is shown.
Index mapHead(const Scene& scene);

}  // namespace headscope::app
