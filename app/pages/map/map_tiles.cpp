#include "app/pages/map/map_job.h"
#include "app/pages/map/map_page.h"

namespace headscope::app::map_page {

namespace {

/// The bytes of a tile's values, plus an allowance for the bookkeeping.
std::uint64_t bytesOf(const attention::Matrix& values) {
  return static_cast<std::uint64_t>(values.size()) * sizeof(float) + 256;
}

float largest(const attention::Matrix& values) {
  float most = 0;
  for (Index i = 0; i < values.size(); ++i)
    if (std::isfinite(values.data()[i])) most = std::max(most, values.data()[i]);
  return most;
}

}  // namespace

std::optional<Tile> TileCache::find(const TileKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  found->second.seen = ++clock_;
  return found->second.tile;
}

bool TileCache::has(const TileKey& key) const {
  const std::lock_guard lock(mutex_);
  return entries_.contains(key);
}

bool TileCache::put(const TileKey& key, attention::Matrix values, bool preview) {
  Entry entry;
  entry.bytes = bytesOf(values);
  entry.memory = memory_.count(entry.bytes);
  entry.tile.most = largest(values);
  entry.tile.preview = preview;
  entry.tile.values = std::make_shared<const attention::Matrix>(std::move(values));
  const std::lock_guard lock(mutex_);
  if (const auto old = entries_.find(key); old != entries_.end()) {
    bytes_ -= old->second.bytes;
    entries_.erase(old);
  }
  if (!makeRoom(entry.bytes)) return false;
  entry.seen = ++clock_;
  entry.tile.revision = ++revision_;
  bytes_ += entry.bytes;
  mostBytes_ = std::max(mostBytes_, bytes_);
  entries_.emplace(key, std::move(entry));
  return true;
}

bool TileCache::makeRoom(std::uint64_t needed) {
  while (bytes_ + needed > budget_) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (!inView_.contains(entry->first) &&
          (oldest == entries_.end() || entry->second.seen < oldest->second.seen))
        oldest = entry;
    if (oldest == entries_.end()) return false;
    bytes_ -= oldest->second.bytes;
    entries_.erase(oldest);
  }
  return true;
}

void TileCache::keepInView(const std::vector<TileKey>& keys) {
  const std::lock_guard lock(mutex_);
  inView_ = {keys.begin(), keys.end()};
}

void TileCache::keepOnly(std::uint64_t field) {
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->first.field == field) {
      ++entry;
      continue;
    }
    bytes_ -= entry->second.bytes;
    entry = entries_.erase(entry);
  }
}

std::uint64_t TileCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}
std::uint64_t TileCache::peakBytes() const {
  const std::lock_guard lock(mutex_);
  return mostBytes_;
}
std::size_t TileCache::tiles() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

using attention::Matrix;

OverviewLevels overviewLevels(Index queries, Index keys) {
  constexpr Index kSide = 1024;
  const Index longer = std::max(queries, keys);
  OverviewLevels levels;
  while (pixelsAt(longer, levels.finest) > kSide) ++levels.finest;
  levels.single = levels.finest;
  while (tilesAt(longer, levels.single) > 1) ++levels.single;
  return levels;
}

Overview::Overview(Index queries, Index keys)
    : queries_(queries), keys_(keys), levels_(overviewLevels(queries, keys)) {
  rows_ = pixelsAt(queries, levels_.finest);
  cols_ = pixelsAt(keys, levels_.finest);
}

void Overview::setPreview(Pooling pooling, const Matrix& estimate) {
  previewed_[static_cast<std::size_t>(pooling)] = true;
  Matrix& to = values(pooling);
  if (to.size() == 0)
    to = estimate;
  else
    to.bottomRows(rows_ - exactRows_) = estimate.bottomRows(rows_ - exactRows_);
}

void Overview::addBand(const Matrix& max, const Matrix& mean) {
  for (const auto& [to, band] : {std::pair(&max_, &max), std::pair(&mean_, &mean)}) {
    if (to->size() == 0) *to = Matrix::Constant(rows_, cols_, render::kMaskedCell);
    to->middleRows(exactRows_, band->rows()) = *band;
  }
  exactRows_ += max.rows();
}

float Overview::pooledMax(Index row, Index col, Index side) const {
  // Masked is −∞ and dead is the lowest finite float, so the maximum is also right for these marks.
  return max_.block(row, col, std::min(side, rows_ - row), std::min(side, cols_ - col)).maxCoeff();
}

float Overview::pooledMean(Index row, Index col, Index side) const {
  const Index cellsASide = factorOf(levels_.finest);
  double sum = 0, cells = 0;
  float special = render::kMaskedCell;
  bool visible = false;
  for (Index r = row; r < std::min(row + side, rows_); ++r)
    for (Index c = col; c < std::min(col + side, cols_); ++c) {
      const auto inside = static_cast<double>(std::min(cellsASide, queries_ - r * cellsASide) *
                                              std::min(cellsASide, keys_ - c * cellsASide));
      const float value = mean_(r, c);
      cells += inside;
      if (value > render::kDeadCell) {
        sum += static_cast<double>(value) * inside;
        visible = true;
      } else {
        special = std::max(special, value);
      }
    }
  return visible ? static_cast<float>(sum / cells) : special;
}

Matrix Overview::tile(Pooling pooling, const TilePlace& place, bool& preview) const {
  const Index side = factorOf(place.level - levels_.finest);  // of a pixel, in pixels of the finest level
  const Index firstRow = place.row * kTileSide, firstCol = place.col * kTileSide;
  const Index rows = std::min(kTileSide, pixelsAt(queries_, place.level) - firstRow);
  const Index cols = std::min(kTileSide, pixelsAt(keys_, place.level) - firstCol);
  preview = (firstRow + rows) * side > exactRows_ && exactRows_ < rows_;
  if (side == 1) return values(pooling).block(firstRow, firstCol, rows, cols);
  Matrix tile(rows, cols);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const Index row = (firstRow + r) * side, col = (firstCol + c) * side;
      tile(r, c) = pooling == Pooling::max ? pooledMax(row, col, side) : pooledMean(row, col, side);
    }
  return tile;
}

std::vector<TilePlace> Overview::tiles(Index first, Index end) const {
  std::vector<TilePlace> places;
  for (int level = levels_.single; level >= levels_.finest; --level) {
    const Index high = kTileSide * factorOf(level - levels_.finest);  // in rows of the finest level
    for (Index row = first / high; row * high < end; ++row)
      for (Index col = 0; col < tilesAt(keys_, level); ++col) places.push_back({level, row, col});
  }
  return places;
}

void Textures::beginFrame(bool quick) {
  ++frame_;
  putOff_ = false;
  leftInFrame_ = quick ? kMaxUploads : std::numeric_limits<int>::max();
}

/// Allocates as many layers as the budget allows, or fewer if the device lacks the memory.
void Textures::allocate() {
  constexpr int kMin = 16;
  constexpr std::size_t kBytes = static_cast<std::size_t>(kTileSide * kTileSide) * sizeof(float);
  for (int layers = static_cast<int>(kBudget / kBytes); slots_.empty(); layers /= 2) {
    try {
      textures_.resize(layers, static_cast<int>(kTileSide), static_cast<int>(kTileSide));
      slots_.resize(asSize(layers));
    } catch (const std::runtime_error&) {
      if (layers <= kMin) throw;
    }
  }
}

Textures::Slot* Textures::freeSlot() {
  const auto oldest = std::min_element(slots_.begin(), slots_.end(),
                                       [](const Slot& a, const Slot& b) { return a.usedAt < b.usedAt; });
  return oldest == slots_.end() || oldest->usedAt == frame_ ? nullptr : &*oldest;
}

std::optional<int> Textures::layerOf(const TileKey& key, const Tile& tile) {
  if (slots_.empty()) allocate();
  const auto known = slotOf_.find(key);
  Slot* slot = known != slotOf_.end() ? &slots_[known->second] : nullptr;
  const bool stale = slot && slot->revision != tile.revision;
  if (!slot || stale) {
    if (leftInFrame_ <= 0) {
      putOff_ = true;
      if (!slot) return std::nullopt;
      slot->usedAt = frame_;  // the old version, until it can be uploaded
      return static_cast<int>(slot - slots_.data());
    }
    if (!slot) {
      slot = freeSlot();
      if (!slot) return std::nullopt;
      if (slot->revision != 0) slotOf_.erase(slot->key);
      slot->key = key;
      slotOf_[key] = asSize(slot - slots_.data());
    }
    const attention::Matrix& values = *tile.values;
    const float* data = values.data();
    if (values.rows() != kTileSide || values.cols() != kTileSide) {
      padded_.assign(static_cast<std::size_t>(kTileSide * kTileSide), render::kMaskedCell);
      attention::MutableMatrixView whole(padded_.data(), kTileSide, kTileSide);
      whole.topLeftCorner(values.rows(), values.cols()) = values;
      data = padded_.data();
    }
    textures_.upload(static_cast<int>(slot - slots_.data()), data);
    slot->revision = tile.revision;
    ++uploads_;
    --leftInFrame_;
  }
  slot->usedAt = frame_;
  return static_cast<int>(slot - slots_.data());
}

}  // namespace headscope::app::map_page
