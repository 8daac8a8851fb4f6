#pragma once

#include <array>
#include <string_view>

#include "app/scene/scene.h"
#include "attention/core/result.h"

namespace headscope::app {

/// What a picture is taken of.
enum class PictureKind { heads, head, mask, cache, map, cost, model, patch, attribution, lens, page };
inline constexpr std::array<std::string_view, 11> kPictureNames{
    "heads", "head", "mask", "cache", "map", "cost", "model", "patch", "attribution", "lens", "page"};

/// What the page that is shown shows: of the heads all or the focused one, the mask, the map, the cache, or
/// what a model costs; else the page.
PictureKind shownPicture(const Scene& scene);
/// The scene on the page that paints a picture of that kind. Errors: there is no model that it is of, or
/// attention that another program recorded has no such thing.
attention::Result<Scene> paintedScene(PictureKind kind, Scene scene);
/// Whether it is a view of the page Model by itself.
inline bool isOfModel(PictureKind kind) {
  return kind == PictureKind::model || kind == PictureKind::patch || kind == PictureKind::attribution ||
         kind == PictureKind::lens;
}

}  // namespace headscope::app
