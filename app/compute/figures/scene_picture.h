#pragma once

#include <array>
#include <string_view>

#include "app/scene/scene.h"
#include "attention/core/result.h"

namespace headscope::app {

/// The subject of a picture.
enum class PictureKind { heads, head, mask, cache, map, cost, model, patch, attribution, lens, page };
inline constexpr std::array<std::string_view, 11> kPictureNames{
    "heads", "head", "mask", "cache", "map", "cost", "model", "patch", "attribution", "lens", "page"};

/// Returns the picture of the current page: all heads or the focused one, the mask, the map, the cache, or
/// the costs of a model; otherwise the page itself.
PictureKind shownPicture(const Scene& scene);
/// Returns the scene on the page that draws such a picture. Returns an Error if the scene lacks the model it
/// needs, or if recorded attention has nothing of the kind.
attention::Result<Scene> paintedScene(PictureKind kind, Scene scene);
/// Whether it is a view of the Model page.
inline bool isOfModel(PictureKind kind) {
  return kind == PictureKind::model || kind == PictureKind::patch || kind == PictureKind::attribution ||
         kind == PictureKind::lens;
}

}  // namespace headscope::app
