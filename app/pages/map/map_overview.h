#pragma once

#include <array>
#include <vector>

#include "app/pages/map/tile_cache.h"

namespace headscope::app::map_page {

inline Index factorOf(int level) {
  return Index{1} << level;
}
/// The number of pixels, or tiles, along a side of `cells` cells.
inline Index pixelsAt(Index cells, int level) {
  return (cells + factorOf(level) - 1) / factorOf(level);
}
inline Index tilesAt(Index cells, int level) {
  return (pixelsAt(cells, level) + kTileSide - 1) / kTileSide;
}

/// The finest level at which a head is kept as a whole, and the level at which it is a single tile.
struct OverviewLevels {
  int finest = 0, single = 0;
};
OverviewLevels overviewLevels(Index queries, Index keys);

/// A whole head, always kept, at up to 1,024 pixels per side: first as a preview, then exactly, band by band.
/// All coarser levels are pooled from it.
class Overview {
 public:
  Overview() = default;
  Overview(Index queries, Index keys);

  const OverviewLevels& levels() const { return levels_; }
  /// Whether every row has at least a preview.
  bool has(Pooling pooling) const { return complete() || previewed_[static_cast<std::size_t>(pooling)]; }
  bool complete() const { return rows_ > 0 && exactRows_ == rows_; }
  double share() const { return static_cast<double>(exactRows_) / static_cast<double>(rows_); }
  /// The first row of pixels that isn't exact yet.
  Index nextRow() const { return exactRows_; }
  Index rows() const { return rows_; }

  /// Sets an estimate of all rows; exact rows stay.
  void setPreview(Pooling pooling, const attention::Matrix& estimate);
  /// Adds exact rows of pixels from nextRow() on, with dead rows marked.
  void addBand(const attention::Matrix& max, const attention::Matrix& mean);

  /// A tile of the finest level or of a coarser one. Sets `preview` to whether any of it is inexact.
  attention::Matrix tile(Pooling pooling, const TilePlace& place, bool& preview) const;
  /// All tiles, from coarse to fine; limited to those that contain rows of pixels first … end−1.
  std::vector<TilePlace> tiles(Index first, Index end) const;
  std::vector<TilePlace> tiles() const { return tiles(0, rows_); }

 private:
  attention::Matrix& values(Pooling pooling) { return pooling == Pooling::max ? max_ : mean_; }
  const attention::Matrix& values(Pooling pooling) const { return pooling == Pooling::max ? max_ : mean_; }
  float pooledMean(Index row, Index col, Index side) const;
  float pooledMax(Index row, Index col, Index side) const;

  Index queries_ = 0, keys_ = 0, rows_ = 0, cols_ = 0, exactRows_ = 0;
  OverviewLevels levels_;
  attention::Matrix max_, mean_;     ///< [rows, cols] at the finest level; empty until known
  std::array<bool, 2> previewed_{};  ///< indexed by pooling
};

}  // namespace headscope::app::map_page
