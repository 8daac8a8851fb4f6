#pragma once

#include <array>
#include <string_view>

#include "app/compute/drawings/drawings.h"
#include "app/compute/resources.h"

namespace headscope::app {

/// What a picture is taken of.
enum class PictureKind { heads, head, mask, cache, map, page };
inline constexpr std::array<std::string_view, 6> kPictureNames{"heads", "head", "mask",
                                                               "cache", "map",  "page"};

/// What the page that is shown shows: of the heads all or the focused one, the mask, or the map.
PictureKind shownPicture(const Scene& scene);

/// The picture of a scene and of what was computed from it; a map computes what it needs itself, and takes no
/// snapshot. The page is what it shows with the KV cache below the heads. Errors: nothing was typed, what
/// the snapshot or the map could not compute.
attention::Result<Drawing> drawPicture(PictureKind kind, const Scene& scene, const Snapshot* snapshot,
                                       Resources& resources, const DrawingOptions& options);

}  // namespace headscope::app
