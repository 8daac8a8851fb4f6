#include "app/compute/drawings/scene_picture.h"

#include <algorithm>

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

Result<Drawing> drawMap(const Scene& scene, Resources& resources, const DrawingOptions& options) {
  // A file may have more heads than the scene's model; a head beyond the last is the last.
  const Index head =
      std::max<Index>(0, scene.cursor.focus >= 0 ? scene.cursor.focus : scene.cursor.cell.head);
  Result<std::optional<MapHead>> built = buildMapHead(mapQuestion(scene, head), resources);
  if (!built) return built.error();
  if (!*built) return Error{"there are no tokens: nothing can be drawn"};
  return mapDrawing(scene, std::move(**built), options);
}

}  // namespace

PictureKind shownPicture(const Scene& scene) {
  if (scene.cursor.page == "mask") return PictureKind::mask;
  if (scene.cursor.page == "map") return PictureKind::map;
  if (scene.cursor.page == "cache") return PictureKind::cache;
  return scene.cursor.focus >= 0 ? PictureKind::head : PictureKind::heads;
}

Result<Drawing> drawPicture(PictureKind kind, const Scene& scene, const Snapshot* snapshot,
                            Resources& resources, const DrawingOptions& options) {
  const bool page = kind == PictureKind::page;
  if (page && scene.cursor.page == "cost")
    return Error{"the page Cost has no figure of its own: headscope render --page cost -o FILE.png draws it"};
  if (page) kind = shownPicture(scene);
  if (kind == PictureKind::map) return drawMap(scene, resources, options);
  if (!snapshot) return Error{"nothing is computed yet: there is nothing to draw"};
  if (snapshot->error) return Error{snapshot->error->message};
  if (snapshot->sequences.empty()) return Error{"there are no tokens: nothing can be drawn"};
  const Index head = pictureHead(scene, snapshot->config.heads);
  const auto withCache = [&](Drawing drawing) {
    return page ? stacked({drawing, cacheDrawing(scene, *snapshot, options)}) : drawing;
  };
  switch (kind) {
    case PictureKind::mask:
      return maskDrawing(scene, *snapshot, head, options);
    case PictureKind::cache:
      return cacheDrawing(scene, *snapshot, options);
    case PictureKind::head:
      return withCache(headDrawing(scene, *snapshot, head, options));
    case PictureKind::heads:
    case PictureKind::page:
    case PictureKind::map:
      break;
  }
  return withCache(headsDrawing(scene, *snapshot, options));
}

}  // namespace headscope::app
