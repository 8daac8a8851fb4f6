#pragma once

#include <array>
#include <string_view>

#include "app/compute/figures/drawings.h"
#include "app/compute/layer/resources.h"

namespace headscope::app {

/// What a picture is taken of.
enum class PictureKind { heads, head, mask, cache, map, cost, model, patch, attribution, lens, page };
inline constexpr std::array<std::string_view, 11> kPictureNames{
    "heads", "head", "mask", "cache", "map", "cost", "model", "patch", "attribution", "lens", "page"};

/// What the page that is shown shows: of the heads all or the focused one, the mask, the map, the cache, or
/// what a model costs.
PictureKind shownPicture(const Scene& scene);
/// Whether that is a figure of the page: of the others it is the heads behind them.
bool hasFigure(const Scene& scene);
/// Whether it is of a whole model, which is run for it.
inline bool isOfModel(PictureKind kind) {
  return kind == PictureKind::model || kind == PictureKind::patch || kind == PictureKind::attribution ||
         kind == PictureKind::lens;
}
/// Whether it is drawn from the snapshot of the scene's layer.
inline bool needsSnapshot(PictureKind kind) {
  return kind != PictureKind::map && kind != PictureKind::cost && !isOfModel(kind);
}

/// The picture of a scene and of what was computed from it; a map and what a model costs compute what they
/// need themselves, and take no snapshot. The page is what it shows with the KV cache below the heads.
/// Errors: nothing was typed, what the snapshot or the map could not compute.
attention::Result<Drawing> drawPicture(PictureKind kind, const Scene& scene, const Snapshot* snapshot,
                                       Resources& resources, const DrawingOptions& options);

}  // namespace headscope::app
