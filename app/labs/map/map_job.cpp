#include "app/labs/map/map_job.h"

#include <algorithm>
#include <utility>

#include "app/compute/caught_error.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::Matrix;

namespace {

constexpr std::chrono::milliseconds kBandsShown{80};  ///< how often a growing overview is renewed

double workOf(const attention::HeadMap& map, Index rows) {
  return static_cast<double>(rows) * static_cast<double>(map.keys()) *
         static_cast<double>(map.field().k.cols());
}

/// Rows of pixels none of whose cells can be seen because their queries see no key are marked as dead.
void markDead(const attention::HeadMap& map, Index firstRow, Index factor, Matrix& values) {
  for (Index r = 0; r < values.rows(); ++r) {
    const Index row = firstRow + r * factor;
    if (map.dead(row, std::min(factor, map.queries() - row))) values.row(r).setConstant(render::kDeadCell);
  }
}

}  // namespace

// Patience would throw away tiles that are wanted again: what is of no use any more is known better here.
MapJob::MapJob(Workers& workers, TileCache& cache, Build build, const MapEffort& effort)
    : cache_(cache),
      build_(std::move(build)),
      effort_(effort),
      job_(
          workers, [this](std::stop_token stop) { doPiece(stop); }, std::nullopt) {}

/// Whether the piece under way is of no use for `request`.
bool MapJob::isAbandoned(const MapRequest& request) const {
  const auto wants = [&](const std::vector<TilePlace>& places) {
    return std::find(places.begin(), places.end(), place_) != places.end();
  };
  switch (doing_) {
    case Doing::nothing:
      return false;
    case Doing::building:
      return request.question != current_->question;
    case Doing::tile:
      return request.question != current_->question || request.field != current_->field ||
             request.pooling != current_->pooling || !wants(request.visible);
    case Doing::background:
      // What is in view goes first.
      return request.question != current_->question || request.pooling != current_->pooling ||
             std::any_of(request.visible.begin(), request.visible.end(), [&](const TilePlace& place) {
               return !cache_.has({request.field, request.pooling, place});
             });
  }
  return false;
}

void MapJob::look(const MapRequest& request) {
  const std::lock_guard lock(mutex_);
  if (request_ && *request_ == request) return;
  request_ = std::make_shared<const MapRequest>(request);
  if (!since_) since_ = Clock::now();
  if (isAbandoned(request)) job_.stop();
  job_.start(Lane::back);
}

void MapJob::pause() {
  const std::lock_guard lock(mutex_);
  request_.reset();
  since_.reset();
  job_.drop();
  job_.stop();
}

std::shared_ptr<const MapState> MapJob::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

MapProgress MapJob::progress() const {
  const std::lock_guard lock(mutex_);
  MapProgress progress;
  if (!since_) return progress;
  progress.seconds = std::max(1e-9, std::chrono::duration<double>(Clock::now() - *since_).count());
  progress.overview = share_;
  progress.building = doing_ == Doing::building;
  return progress;
}

void MapJob::begin(Doing doing, const TilePlace& place) {
  const std::lock_guard lock(mutex_);
  doing_ = doing;
  place_ = place;
}

void MapJob::doPiece(std::stop_token stop) {
  std::shared_ptr<const MapRequest> request;
  {
    const std::lock_guard lock(mutex_);
    request = request_;
    if (request != std::exchange(current_, request)) visibleAt_ = nearAt_ = 0;
  }
  if (!request) return;
  bool more = false;
  try {
    more = work(*request, stop);
  } catch (...) {
    fail(*request, caughtError("A map of these sizes").message);
  }
  const std::lock_guard lock(mutex_);
  doing_ = Doing::nothing;
  share_ = overview_.rows() > 0 ? overview_.share() : 0;
  if (more && request_)
    job_.start(Lane::back);
  else if (request_ == request)
    since_.reset();
}

void MapJob::fail(const MapRequest& request, const std::string& message) {
  map_.reset();
  overview_ = {};
  failed_ = true;
  built_ = request.question;
  MapState state;
  state.question = request.question;
  state.error = message;
  publish(std::move(state));
}

void MapJob::publish(MapState state) {
  const std::lock_guard lock(mutex_);
  state_ = std::make_shared<const MapState>(std::move(state));
}

/// One piece of work; whether there may be more.
bool MapJob::work(const MapRequest& request, std::stop_token stop) {
  if ((!map_ && !failed_) || built_ != request.question) return build(request, stop);
  if (failed_ || !map_) return false;
  if (!overview_.has(request.pooling)) return extendOverview(request, stop);
  if (request.field == field_ && makeTile(request, request.visible, visibleAt_, Doing::tile, stop))
    return true;
  // What was evicted while another pooling was in view.
  std::vector<TilePlace> missing = overview_.tiles();
  std::erase_if(missing, [&](const TilePlace& place) {
    return cache_.has({field_, request.pooling, place});
  });
  putOverview(missing);
  if (!overview_.complete()) return extendOverview(request, stop);
  return request.field == field_ && makeTile(request, request.near, nearAt_, Doing::background, stop);
}

bool MapJob::build(const MapRequest& request, std::stop_token stop) {
  begin(Doing::building);
  failed_ = false;
  map_.reset();
  overview_ = {};
  attention::Result<std::optional<MapHead>> head = build_(request.question, stop);
  if (stop.stop_requested()) return true;
  if (!head) {
    fail(request, head.error().message);
    return false;
  }
  built_ = request.question;
  MapState state;
  state.question = request.question;
  if (!*head) {
    failed_ = true;
    publish(std::move(state));
    return false;
  }
  state.empty = false;
  state.field = ++field_;
  state.heads = (*head)->heads;
  state.kvHeads = (*head)->kvHeads;
  state.causal = (*head)->causal;
  state.layers = (*head)->layers;
  state.layerName = (*head)->layerName;
  state.text = std::move((*head)->text);
  state.omitted = std::move((*head)->omitted);
  state.memory = std::move((*head)->memory);
  map_ = std::make_shared<attention::HeadMap>(std::move((*head)->field));
  state.map = map_;
  state.queries = map_->queries();
  state.keys = map_->keys();
  overview_ = MapOverview(state.queries, state.keys);
  state.levels = overview_.levels();
  state.previewStep = map_->previewStep(factorOf(state.levels.finest), effort_.preview);
  const auto tokens = state.text->queries.size() + state.text->keys.size();
  const auto pixels =
      static_cast<std::uint64_t>(overview_.rows() * pixelsAt(state.keys, state.levels.finest));
  state.bytes = map_->bytes() + tokens * sizeof(attention::Token) + 2 * pixels * sizeof(float);
  shownAt_.reset();
  shownRow_ = 0;
  extendOverview(request, stop);
  if (stop.stop_requested() && !overview_.has(request.pooling)) {
    map_.reset();  // begun again when it is asked for again
    return true;
  }
  putOverview(overview_.tiles());
  publish(std::move(state));
  return true;
}

Matrix MapJob::tileValues(const TilePlace& place, Pooling pooling, std::stop_token stop) {
  const Index factor = factorOf(place.level), side = kTileSide * factor;
  attention::MapPart part{place.row * side, place.col * side, 0, 0, factor};
  part.rows = std::min(side, map_->queries() - part.row);
  part.keys = std::min(side, map_->keys() - part.key);
  Matrix values = map_->weights(part, pooling, stop);
  if (!stop.stop_requested()) markDead(*map_, part.row, factor, values);
  return values;
}

/// The next of `places` that is not there yet.
bool MapJob::makeTile(const MapRequest& request, const std::vector<TilePlace>& places, std::size_t& at,
                      Doing doing, std::stop_token stop) {
  while (at < places.size()) {
    const TileKey key{field_, request.pooling, places[at]};
    if (!cache_.has(key)) {
      begin(doing, key.place);
      Matrix values = tileValues(key.place, request.pooling, stop);
      if (stop.stop_requested()) return true;
      ++at;
      cache_.put(key, std::move(values), false);
      return true;
    }
    ++at;
  }
  return false;
}

/// A preview where there is none, else the next exact band.
bool MapJob::extendOverview(const MapRequest& request, std::stop_token stop) {
  const bool first = !overview_.has(request.pooling);
  begin(first ? Doing::building : Doing::background);
  const Index factor = factorOf(overview_.levels().finest);
  const double all = workOf(*map_, map_->queries());
  if (first && map_->previewStep(factor, effort_.preview) > 1) {
    const Matrix estimate = map_->preview(factor, request.pooling, effort_.preview, stop);
    if (stop.stop_requested()) return true;
    overview_.setPreview(request.pooling, estimate);
    putOverview(overview_.tiles());
    return true;
  }
  // A head that takes no longer than a preview is made exactly at once.
  const double most = first ? all : effort_.band;
  const Index left = overview_.rows() - overview_.nextRow();
  const Index rows = std::clamp<Index>(static_cast<Index>(most / workOf(*map_, factor)), 1, left);
  const Index row = overview_.nextRow() * factor;
  attention::HeadMap::Pooled band =
      map_->pooled({row, 0, std::min(rows * factor, map_->queries() - row), map_->keys(), factor}, stop);
  if (stop.stop_requested()) return true;
  markDead(*map_, row, factor, band.max);
  markDead(*map_, row, factor, band.mean);
  overview_.addBand(band.max, band.mean);
  const auto now = Clock::now();
  if (overview_.complete() || !shownAt_ || now - *shownAt_ > kBandsShown) {
    putOverview(overview_.tiles(shownRow_, overview_.nextRow()));
    shownRow_ = overview_.nextRow();
    shownAt_ = now;
  }
  return true;
}

void MapJob::putOverview(const std::vector<TilePlace>& places) {
  for (const Pooling pooling : {Pooling::max, Pooling::mean}) {
    if (!overview_.has(pooling)) continue;
    for (const TilePlace& place : places) {
      bool preview = false;
      Matrix values = overview_.tile(pooling, place, preview);
      cache_.put({field_, pooling, place}, std::move(values), preview);
    }
  }
}

}  // namespace headscope::app
