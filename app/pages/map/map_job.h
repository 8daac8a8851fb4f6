#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/jobs/answer.h"
#include "app/compute/jobs/memory_budget.h"
#include "app/compute/map/map_source.h"
#include "attention/core/head_map.h"

namespace headscope::app::map_page {

using attention::asSize;
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

/// One head's map without its tiles.
struct MapSnapshot : MapFacts {
  MapQuestion question;
  std::optional<std::string> error;  ///< if set, there is nothing else
  bool empty = true;                 ///< no text, or an error
  std::uint64_t field = 0;           ///< as in its tiles' keys
  Index queries = 0, keys = 0;
  OverviewLevels levels;
  std::shared_ptr<const attention::HeadMap> map;  ///< for its field(), which never changes
  std::uint64_t bytes = 0;                        ///< held in addition to the tiles
  Index previewStep = 1;                          ///< the preview samples one row in this many
};

/// The part of a map that the page shows.
struct Request {
  MapQuestion question;
  Pooling pooling = Pooling::max;
  std::uint64_t field = 0;         ///< the head that the places below belong to; empty lists for other heads
  std::vector<TilePlace> visible;  ///< finer than the overview, in order of priority
  std::vector<TilePlace> near;     ///< made once everything else is done
  bool operator==(const Request&) const = default;
};

struct Progress {
  double seconds = 0;     ///< since the current work began; 0 = idle
  double overview = 0;    ///< share of the overview that is exact, 0 to 1
  bool building = false;  ///< computing a head's q and k
};

/// Multiply-adds spent on a preview (some tens of milliseconds), and on one band of the exact overview, after
/// which other work gets its turn.
struct Effort {
  double preview = 2e9, band = 1.5e9;
};

/// Makes the tiles for the visible part, piece by piece on the back lane: a preview of the whole head, the
/// visible tiles in order of priority, the exact overview band by band, the surrounding tiles. Stops work
/// that is no longer wanted.
class Job {
 public:
  using Build = std::function<attention::Result<std::optional<MapHead>>(const MapQuestion&, std::stop_token)>;

  /// Puts tiles into `cache`. The cache and the workers must outlive the job.
  Job(Workers& workers, TileCache& cache, Build build, const Effort& effort = {});

  void look(const Request& request);
  /// Call when the page is hidden: stops the current work and keeps what is done.
  void pause();

  /// The newest head with an overview that can be drawn, or with an error; null before the first.
  std::shared_ptr<const MapSnapshot> state() const;
  Progress progress() const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Doing { nothing, building, tile, background };
  /// The head being worked on.
  struct Head {
    MapQuestion question;
    std::shared_ptr<attention::HeadMap> map = {};  ///< null if there is none: no text, or an error
    Overview overview = {};
    std::optional<Clock::time_point> shownAt = {};  ///< when the overview's tiles were last updated
    Index shownRow = 0;                             ///< exact rows of the overview in them
    std::size_t visibleAt = 0, nearAt = 0;          ///< the request's tiles before these are done
  };

  void doPiece(std::stop_token stop);
  bool work(const Request& request, std::stop_token stop);
  bool build(const Request& request, std::stop_token stop);
  bool makeTile(const Request& request, const std::vector<TilePlace>& places, std::size_t& at, Doing doing,
                std::stop_token stop);
  bool extendOverview(const Request& request, std::stop_token stop);
  /// For each pooling that has at least a preview.
  void putOverview(const std::vector<TilePlace>& places);
  attention::Matrix tileValues(const TilePlace& place, Pooling pooling, std::stop_token stop);
  void publish(MapSnapshot state);
  void fail(const Request& request, const std::string& message);
  bool isAbandoned(const Request& request) const;
  void begin(Doing doing, const TilePlace& place = {});

  TileCache& cache_;
  const Build build_;
  const Effort effort_;

  mutable std::mutex mutex_;
  std::shared_ptr<const Request> request_;
  std::shared_ptr<const MapSnapshot> state_;
  std::shared_ptr<const Request> current_;  ///< the request of the last piece
  Doing doing_ = Doing::nothing;
  TilePlace place_;
  std::optional<Clock::time_point> since_;  ///< set while there is work
  double share_ = 0;

  // Used only by the pieces, on the lane:
  std::optional<Head> head_;  ///< of the last question worked on
  std::uint64_t field_ = 0;   ///< number of heads made

  Workers::Job job_;  // last member: destroyed first, so its pieces end before the data they use
};

}  // namespace headscope::app::map_page
