#pragma once

#include <map>
#include <optional>
#include <vector>

#include "app/pages/map/tile_cache.h"
#include "render/heatmap.h"

namespace headscope::app::map_page {

/// The visible tiles on the GPU: one texture array with a layer per tile, within a budget. A tile is uploaded
/// once, and again only when it changes.
class Textures {
 public:
  static constexpr std::size_t kBudget = std::size_t{64} << 20;
  static constexpr int kMaxUploads = 16;  ///< per frame, if `quick`

  /// Starts a frame. Unless `quick`, all missing tiles are uploaded in it.
  void beginFrame(bool quick);
  /// The layer that holds a tile, uploading it if needed. Nothing if it isn't there and can't be in this
  /// frame because all layers are in use or the frame's uploads are used up. Throws std::runtime_error if no
  /// graphics memory is available.
  std::optional<int> layerOf(const TileKey& key, const Tile& tile);

  const render::HeatmapTextures& textures() const { return textures_; }
  std::size_t bytes() const { return textures_.bytes(); }
  std::size_t layers() const { return slots_.size(); }
  std::size_t uploads() const { return uploads_; }  ///< tiles uploaded so far
  /// Whether a tile was put off to the next frame.
  bool unfinished() const { return putOff_; }

 private:
  struct Slot {
    TileKey key;
    std::uint64_t revision = 0, usedAt = 0;  ///< 0 = never
  };
  void allocate();
  Slot* freeSlot();

  render::HeatmapTextures textures_;
  std::vector<Slot> slots_;
  std::map<TileKey, std::size_t> slotOf_;
  std::vector<float> padded_;
  std::uint64_t frame_ = 0;
  std::size_t uploads_ = 0;
  int leftInFrame_ = 0;
  bool putOff_ = false;
};

}  // namespace headscope::app::map_page
