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

/// What there is of one head's map, apart from its tiles.
struct MapSnapshot {
  MapQuestion question;
  std::optional<std::string> error;  ///< then there is nothing else
  bool empty = true;                 ///< nothing was typed, or there is an error
  std::uint64_t field = 0;           ///< as in the keys of its tiles
  Index queries = 0, keys = 0;
  Index heads = 1, kvHeads = 1, layers = 1;
  bool causal = false;    ///< self-attention in which no query sees a later key
  std::string layerName;  ///< of a file that names it
  OverviewLevels levels;
  std::shared_ptr<const attention::HeadMap> map;  ///< for its field(), which never changes
  std::shared_ptr<const MapText> text;
  std::string notFinite;
  std::vector<std::string> omitted;
  std::uint64_t bytes = 0;  ///< held besides the tiles
  MemoryShare memory;       ///< of the budget for as much
  Index previewStep = 1;    ///< the preview looks at one row in so many
};

/// What is looked at.
struct Request {
  MapQuestion question;
  Pooling pooling = Pooling::max;
  std::uint64_t field = 0;         ///< the head the places below are of; others have none yet
  std::vector<TilePlace> visible;  ///< finer than the overview, in the order they are wanted
  std::vector<TilePlace> near;     ///< worth having once the rest is there
  bool operator==(const Request&) const = default;
};

struct Progress {
  double seconds = 0;     ///< since the work that is under way began; 0 when nothing is
  double overview = 0;    ///< exact share of the overview, 0 to 1
  bool building = false;  ///< a head's q and k are being made
};

/// Multiply-adds that go into a preview, which takes some tens of milliseconds, and into one band of the
/// exact overview, after which other work gets its turn.
struct Effort {
  double preview = 2e9, band = 1.5e9;
};

/// Makes the tiles of the view that is looked at, piece by piece on the back lane: a preview of the whole
/// head, the tiles in view in the order they are wanted, the exact overview band by band, the tiles around.
/// What is no longer wanted is stopped.
class Job {
 public:
  using Build = std::function<attention::Result<std::optional<MapHead>>(const MapQuestion&, std::stop_token)>;

  /// Tiles go to `cache`. Both it and the workers must outlive the job.
  Job(Workers& workers, TileCache& cache, Build build, const Effort& effort = {});

  void look(const Request& request);
  /// The page is not shown: stops what is under way and keeps what there is.
  void pause();

  /// The newest head whose overview can be drawn; null before the first.
  std::shared_ptr<const MapSnapshot> state() const;
  Progress progress() const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Doing { nothing, building, tile, background };
  /// What is worked on.
  struct Head {
    MapQuestion question;
    std::shared_ptr<attention::HeadMap> map =
        {};  ///< null where there is none: nothing was typed, or an error
    Overview overview = {};
    std::optional<Clock::time_point> shownAt = {};  ///< when the overview's tiles were last renewed
    Index shownRow = 0;                             ///< its exact rows that are in them
    std::size_t visibleAt = 0, nearAt = 0;          ///< tiles of the request before these are there
  };

  void doPiece(std::stop_token stop);
  bool work(const Request& request, std::stop_token stop);
  bool build(const Request& request, std::stop_token stop);
  bool makeTile(const Request& request, const std::vector<TilePlace>& places, std::size_t& at, Doing doing,
                std::stop_token stop);
  bool extendOverview(const Request& request, std::stop_token stop);
  /// Under every pooling there is something of.
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
  std::shared_ptr<const Request> current_;  ///< what the last piece was for
  Doing doing_ = Doing::nothing;
  TilePlace place_;
  std::optional<Clock::time_point> since_;  ///< while something is under way
  double share_ = 0;

  // The pieces' own:
  std::optional<Head> head_;  ///< of the last question that was answered
  std::uint64_t field_ = 0;   ///< heads that were made

  Workers::Job job_;  // last: it ends before what its pieces touch goes
};

}  // namespace headscope::app::map_page
