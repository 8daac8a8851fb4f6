#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/compute/jobs/workers.h"
#include "app/compute/map/map_source.h"
#include "app/pages/map/map_overview.h"

namespace headscope::app::map_page {

/// One head's map without its tiles.
struct MapSnapshot {
  MapQuestion question;
  std::optional<std::string> error;  ///< if set, there is nothing else
  bool empty = true;                 ///< no text, or an error
  std::uint64_t field = 0;           ///< as in its tiles' keys
  Index queries = 0, keys = 0;
  Index heads = 1, kvHeads = 1, layers = 1;
  bool causal = false;    ///< self-attention in which no query sees a later key
  std::string layerName;  ///< if its file names the layer
  OverviewLevels levels;
  std::shared_ptr<const attention::HeadMap> map;  ///< for its field(), which never changes
  std::shared_ptr<const MapText> text;
  std::string notFinite;
  std::vector<std::string> omitted;
  std::uint64_t bytes = 0;  ///< held in addition to the tiles
  MemoryShare memory;       ///< that many bytes of the budget
  Index previewStep = 1;    ///< the preview samples one row in this many
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
