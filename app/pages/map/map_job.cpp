#include "app/pages/map/map_job.h"

#include "render/heatmap.h"

namespace headscope::app::map_page {

using attention::Matrix;

namespace {

constexpr std::chrono::milliseconds kBandsShown{80};  ///< minimum time between updates of a growing overview

double workOf(const attention::HeadMap& map, Index rows) {
  return static_cast<double>(rows) * static_cast<double>(map.keys()) *
         static_cast<double>(map.field().k.cols());
}

/// Marks as dead each row of pixels that covers only queries that see no key.
void markDead(const attention::HeadMap& map, Index firstRow, Index factor, Matrix& values) {
  for (Index r = 0; r < values.rows(); ++r) {
    const Index row = firstRow + r * factor;
    if (map.dead(row, std::min(factor, map.queries() - row))) values.row(r).setConstant(render::kDeadCell);
  }
}

}  // namespace

// No patience, which would discard tiles that are still wanted: isAbandoned() decides what to stop.
Job::Job(Workers& workers, TileCache& cache, Build build, const Effort& effort)
    : cache_(cache),
      build_(std::move(build)),
      effort_(effort),
      job_(
          workers, [this](std::stop_token stop) { doPiece(stop); }, std::nullopt) {}

/// Whether the current piece of work is useless for `request`.
bool Job::isAbandoned(const Request& request) const {
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
      // Visible tiles take precedence.
      return request.question != current_->question || request.pooling != current_->pooling ||
             std::any_of(request.visible.begin(), request.visible.end(), [&](const TilePlace& place) {
               return !cache_.has({request.field, request.pooling, place});
             });
  }
  return false;
}

void Job::look(const Request& request) {
  const std::lock_guard lock(mutex_);
  if (request_ && *request_ == request) return;
  request_ = std::make_shared<const Request>(request);
  if (!since_) since_ = Clock::now();
  if (isAbandoned(request)) job_.stop();
  job_.start(Lane::back);
}

void Job::pause() {
  const std::lock_guard lock(mutex_);
  request_.reset();
  since_.reset();
  job_.drop();
  job_.stop();
}

std::shared_ptr<const MapSnapshot> Job::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Progress Job::progress() const {
  const std::lock_guard lock(mutex_);
  Progress progress;
  if (!since_) return progress;
  progress.seconds = std::max(1e-9, std::chrono::duration<double>(Clock::now() - *since_).count());
  progress.overview = share_;
  progress.building = doing_ == Doing::building;
  return progress;
}

void Job::begin(Doing doing, const TilePlace& place) {
  const std::lock_guard lock(mutex_);
  doing_ = doing;
  place_ = place;
}

void Job::doPiece(std::stop_token stop) {
  std::shared_ptr<const Request> request;
  {
    const std::lock_guard lock(mutex_);
    request = request_;
    if (request != std::exchange(current_, request) && head_) head_->visibleAt = head_->nearAt = 0;
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
  share_ = head_ && head_->map ? head_->overview.share() : 0;
  if (more && request_)
    job_.start(Lane::back);
  else if (request_ == request)
    since_.reset();
}

void Job::fail(const Request& request, const std::string& message) {
  head_ = Head{request.question};
  MapSnapshot state;
  state.question = request.question;
  state.error = message;
  publish(std::move(state));
}

void Job::publish(MapSnapshot state) {
  const std::lock_guard lock(mutex_);
  state_ = std::make_shared<const MapSnapshot>(std::move(state));
}

/// Does one piece of work. Returns whether there may be more.
bool Job::work(const Request& request, std::stop_token stop) {
  if (!head_ || head_->question != request.question) return build(request, stop);
  if (!head_->map) return false;
  const Overview& overview = head_->overview;
  if (!overview.has(request.pooling)) return extendOverview(request, stop);
  if (request.field == field_ && makeTile(request, request.visible, head_->visibleAt, Doing::tile, stop))
    return true;
  // Tiles evicted while another pooling was visible.
  std::vector<TilePlace> missing = overview.tiles();
  std::erase_if(missing, [&](const TilePlace& place) {
    return cache_.has({field_, request.pooling, place});
  });
  putOverview(missing);
  if (!overview.complete()) return extendOverview(request, stop);
  return request.field == field_ && makeTile(request, request.near, head_->nearAt, Doing::background, stop);
}

bool Job::build(const Request& request, std::stop_token stop) {
  begin(Doing::building);
  head_.reset();
  attention::Result<std::optional<MapHead>> head = build_(request.question, stop);
  if (stop.stop_requested()) return true;
  if (!head) {
    fail(request, head.error().message);
    return false;
  }
  head_ = Head{request.question};
  MapSnapshot state;
  state.question = request.question;
  if (!*head) {
    publish(std::move(state));
    return false;
  }
  static_cast<MapFacts&>(state) = static_cast<MapFacts&&>(**head);
  state.empty = false;
  state.field = ++field_;
  const auto map = std::make_shared<attention::HeadMap>(std::move((*head)->field));
  head_->map = map;
  state.map = map;
  state.queries = map->queries();
  state.keys = map->keys();
  Overview& overview = head_->overview;
  overview = Overview(state.queries, state.keys);
  state.levels = overview.levels();
  state.previewStep = map->previewStep(factorOf(state.levels.finest), effort_.preview);
  const auto tokens = state.text->queries.size() + state.text->keys.size();
  const auto pixels = static_cast<std::uint64_t>(overview.rows() * pixelsAt(state.keys, state.levels.finest));
  state.bytes = map->bytes() + tokens * sizeof(attention::Token) + 2 * pixels * sizeof(float);
  extendOverview(request, stop);
  if (stop.stop_requested() && !overview.has(request.pooling)) {
    head_.reset();  // starts again when requested again
    return true;
  }
  putOverview(overview.tiles());
  publish(std::move(state));
  return true;
}

Matrix Job::tileValues(const TilePlace& place, Pooling pooling, std::stop_token stop) {
  attention::HeadMap& map = *head_->map;
  const Index factor = factorOf(place.level), side = kTileSide * factor;
  attention::MapPart part{place.row * side, place.col * side, 0, 0, factor};
  part.rows = std::min(side, map.queries() - part.row);
  part.keys = std::min(side, map.keys() - part.key);
  Matrix values = map.weights(part, pooling, stop);
  if (!stop.stop_requested()) markDead(map, part.row, factor, values);
  return values;
}

/// Makes the next missing tile of `places`. Returns false if none is missing.
bool Job::makeTile(const Request& request, const std::vector<TilePlace>& places, std::size_t& at, Doing doing,
                   std::stop_token stop) {
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

/// Makes a preview if there is none yet, else the next exact band.
bool Job::extendOverview(const Request& request, std::stop_token stop) {
  attention::HeadMap& map = *head_->map;
  Overview& overview = head_->overview;
  const bool first = !overview.has(request.pooling);
  begin(first ? Doing::building : Doing::background);
  const Index factor = factorOf(overview.levels().finest);
  const double all = workOf(map, map.queries());
  if (first && map.previewStep(factor, effort_.preview) > 1) {
    const Matrix estimate = map.preview(factor, request.pooling, effort_.preview, stop);
    if (stop.stop_requested()) return true;
    overview.setPreview(request.pooling, estimate);
    putOverview(overview.tiles());
    return true;
  }
  // A head that takes no longer than a preview is made exactly at once.
  const double most = first ? all : effort_.band;
  const Index left = overview.rows() - overview.nextRow();
  const Index rows = std::clamp<Index>(static_cast<Index>(most / workOf(map, factor)), 1, left);
  const Index row = overview.nextRow() * factor;
  attention::HeadMap::Pooled band =
      map.pooled({row, 0, std::min(rows * factor, map.queries() - row), map.keys(), factor}, stop);
  if (stop.stop_requested()) return true;
  markDead(map, row, factor, band.max);
  markDead(map, row, factor, band.mean);
  overview.addBand(band.max, band.mean);
  const auto now = Clock::now();
  if (overview.complete() || !head_->shownAt || now - *head_->shownAt > kBandsShown) {
    putOverview(overview.tiles(head_->shownRow, overview.nextRow()));
    head_->shownRow = overview.nextRow();
    head_->shownAt = now;
  }
  return true;
}

void Job::putOverview(const std::vector<TilePlace>& places) {
  for (const Pooling pooling : {Pooling::max, Pooling::mean}) {
    if (!head_->overview.has(pooling)) continue;
    for (const TilePlace& place : places) {
      bool preview = false;
      Matrix values = head_->overview.tile(pooling, place, preview);
      cache_.put({field_, pooling, place}, std::move(values), preview);
    }
  }
}

}  // namespace headscope::app::map_page
