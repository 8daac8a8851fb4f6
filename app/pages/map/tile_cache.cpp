#include "app/pages/map/tile_cache.h"

#include <algorithm>
#include <cmath>

#include "render/heatmap.h"

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

}  // namespace headscope::app::map_page
