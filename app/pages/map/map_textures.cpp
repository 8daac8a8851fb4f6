#include "app/pages/map/map_textures.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace headscope::app::map_page {

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
      slots_.resize(static_cast<std::size_t>(layers));
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
      slotOf_[key] = static_cast<std::size_t>(slot - slots_.data());
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
