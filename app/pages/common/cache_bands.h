#pragma once

#include <span>
#include <vector>

#include "app/compute/cache/cache_picture.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The cache's own tones: values by lightness with zero in the middle, and what is not there.
struct CacheColors {
  render::Tint key, value;  ///< −1 to 1
  std::uint32_t emptySlot, voidHatch, voidLine, playhead;
};
CacheColors cacheColors(const Theme& theme);

/// Where cached tokens and heads lie, in pixels: a column a token, and a slot for each query head, so that
/// MHA fills them all. A kv head's band, keys over values, lies in the first slot of its group; what follows
/// it is what MHA would store. A band's height does not change with the kv heads.
struct BandPlan {
  ImRect cells;  ///< all tokens across; all slots down, or those in sight
  Index tokens = 1, heads = 1, kvHeads = 1, now = 0;
  Index firstHead = 0;  ///< whose slot is the topmost
  float slot = 72, reads = 0, band = 32;
  bool readRows = true;  ///< above a band a row of reads for each head, or one for the group

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

/// Where a band is drawn: at rest its own place, otherwise somewhere between two.
struct BandPlace {
  Index kvHead = 0;
  float top = 0, height = 0;  ///< of its keys; the values lie right below
  bool leaving = false;       ///< as it was before the kv heads changed
};
/// The first `pictured` bands, all at rest.
std::vector<BandPlace> restingBands(const BandPlan& plan, Index pictured);

/// Pictures of the bands (cachePicture), as far as the cache is filled.
void paintBandPictures(const View& view, Canvas list, const EasedTextures& textures, const BandPlan& plan,
                       std::span<const BandPlace> bands, Index tokenGrain);
/// Lines between a band's columns, and empty slots for what is still coming.
void paintBandColumns(const View& view, Canvas list, const BandPlan& plan, const BandPlace& band);
/// What MHA would store and this doesn't: a hatched band for each, and why, short where `small`.
void paintVoids(const View& view, Canvas list, const BandPlan& plan, bool small);

/// Between columns, or 0 where they are too thin for it.
float columnGap(const View& view, const BandPlan& plan);

}  // namespace headscope::app
