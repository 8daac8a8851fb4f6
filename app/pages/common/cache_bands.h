#pragma once

#include <span>
#include <vector>

#include "app/compute/cache/cache_studies.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The cache's colours: values by lightness with zero in the middle, and missing slots.
struct CacheColors {
  render::Tint key, value;  ///< for values from −1 to 1
  std::uint32_t emptySlot, voidHatch, voidLine, playhead;
};
CacheColors cacheColors(const Theme& theme);

/// Layout of cached tokens and heads in pixels: one column per token and one slot per query head, so that MHA
/// fills every slot. A kv head's band (keys over values) lies in the first slot of its group; the rest of the
/// group is what MHA would also store. The height of a band doesn't depend on the number of kv heads.
struct BandPlan {
  ImRect cells;  ///< all tokens across; all slots down, or the visible ones
  Index tokens = 1, heads = 1, kvHeads = 1, now = 0;
  Index firstHead = 0;  ///< the head of the topmost slot
  float slot = 72, reads = 0, band = 32;
  bool readRows = true;  ///< above each band: a row of reads per head, or one for the group

  float column() const { return cells.GetWidth() / static_cast<float>(tokens); }
  float x(Index token) const { return cells.Min.x + column() * static_cast<float>(token); }
  Index group() const { return heads / kvHeads; }
  float groupTop(Index kvHead) const {
    return cells.Min.y + slot * static_cast<float>(kvHead * group() - firstHead);
  }
  float groupBottom(Index kvHead) const { return groupTop(kvHead + 1); }
  float readsHeight() const {
    return readRows ? reads * static_cast<float>(group()) : group() > 1 ? reads : 0;
  }
  float keysTop(Index kvHead) const { return groupTop(kvHead) + readsHeight(); }
};

/// Where a band is drawn: at its final place, or on the way between two places.
struct BandPlace {
  Index kvHead = 0;
  float top = 0, height = 0;  ///< of its keys; the values lie directly below
  bool leaving = false;       ///< belongs to the layout before the kv heads changed
};
/// The first `pictured` bands at their final places.
std::vector<BandPlace> restingBands(const BandPlan& plan, Index pictured);

/// Draws the pictures of the bands (cachePicture), up to the filled part of the cache.
void paintBandPictures(const View& view, Canvas list, const EasedTextures& textures, const BandPlan& plan,
                       std::span<const BandPlace> bands, Index tokenGrain);
/// Draws lines between a band's columns, and empty slots for future tokens.
void paintBandColumns(const View& view, Canvas list, const BandPlan& plan, const BandPlace& band);
/// Draws a hatched band for each one that only MHA would store.
void paintVoids(const View& view, Canvas list, const BandPlan& plan);
/// Draws the reason in those bands. Call after outlines, which would cross the words.
void paintVoidReasons(const View& view, Canvas list, const BandPlan& plan);

/// The gap between columns in pixels; 0 if they are too thin for one.
float columnGap(const View& view, const BandPlan& plan);

}  // namespace headscope::app
