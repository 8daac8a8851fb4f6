#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "app/compute/jobs/memory_budget.h"
#include "attention/core/head_map.h"

namespace headscope::app::map_page {

using attention::Index;
using attention::Pooling;

/// Pixels along a tile's side. At level L a pixel covers 2^L × 2^L cells.
inline constexpr Index kTileSide = 256;

/// A tile's place in a head.
struct TilePlace {
  int level = 0;
  Index row = 0, col = 0;  ///< in tiles
  auto operator<=>(const TilePlace&) const = default;
};

/// Identifies a tile of one head under one pooling.
struct TileKey {
  std::uint64_t field = 0;  ///< which head of which scene; numbered by the job that maps them
  Pooling pooling = Pooling::max;
  TilePlace place;
  auto operator<=>(const TileKey&) const = default;
};

struct Tile {
  std::shared_ptr<const attention::Matrix> values;  ///< [≤ kTileSide, ≤ kTileSide], marks as render/heatmap.h
  float most = 0;                                   ///< the largest finite value, at least 0
  bool preview = false;                             ///< not all of it is exact
  std::uint64_t revision = 0;                       ///< unique for each stored tile
};

/// Tiles within a memory budget. Evicts the least recently seen first, but no visible ones. Thread-safe.
class TileCache {
 public:
  /// Kept tiles also count as used in `memory`.
  explicit TileCache(std::uint64_t budget, MemoryBudget memory = MemoryBudget(0))
      : budget_(budget), memory_(std::move(memory)) {}

  /// Returns the tile if it is there, and marks it as seen.
  std::optional<Tile> find(const TileKey& key);
  bool has(const TileKey& key) const;
  /// Stores a tile, replacing an older one with that key. Returns false, without storing it, if visible tiles
  /// take all the space.
  bool put(const TileKey& key, attention::Matrix values, bool preview);
  /// Sets the visible tiles, until the next call.
  void keepInView(const std::vector<TileKey>& keys);
  /// Drops the tiles of all other heads.
  void keepOnly(std::uint64_t field);

  std::uint64_t budget() const { return budget_; }
  std::uint64_t bytes() const;
  std::uint64_t peakBytes() const;  ///< peak of bytes()
  std::size_t tiles() const;

 private:
  struct Entry {
    Tile tile;
    std::uint64_t bytes = 0, seen = 0;
    MemoryShare memory;
  };
  bool makeRoom(std::uint64_t needed);

  const std::uint64_t budget_;
  const MemoryBudget memory_;
  mutable std::mutex mutex_;
  std::map<TileKey, Entry> entries_;
  std::set<TileKey> inView_;
  std::uint64_t bytes_ = 0, mostBytes_ = 0, clock_ = 0, revision_ = 0;
};

}  // namespace headscope::app::map_page
