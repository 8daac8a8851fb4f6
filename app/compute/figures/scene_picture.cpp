#include "app/compute/figures/scene_picture.h"

#include <algorithm>
#include <optional>

#include "app/compute/model/recorded_study.h"
#include "app/platform/configuration.h"
#include "app/scene/models/open_model.h"
#include "attention/models/model_shape_reader.h"

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

Result<Drawing> drawCost(const Scene& scene, const DrawingOptions& options) {
  const CostCatalogue catalogue = loadCatalogue(configurationFolder());
  std::optional<attention::ModelShape> config;
  if (!scene.cost.config.empty()) {
    auto read = attention::readModelShape(std::filesystem::path(scene.cost.config));
    if (!read) return read.error();
    config = *std::move(read);
  }
  const auto shape = costShape(scene, catalogue, config);
  if (!shape) return shape.error();
  return costDrawing(scene.cost, costFigures(scene.cost, *shape, catalogue), catalogue, options);
}

/// What there is to draw of attention that another program recorded.
Result<Drawing> drawRecorded(PictureKind kind, const Scene& scene, Resources& resources,
                             const DrawingOptions& options) {
  const Snapshot snapshot = recordedSnapshot(scene.setup, resources);
  if (snapshot.error) return Error{snapshot.error->message};
  const std::string& name = scene.setup.subject.opened->name;
  const attention::AttentionResult& result = snapshot.sequences.front().attention;
  const bool heads = kind == PictureKind::head || kind == PictureKind::heads || kind == PictureKind::page;
  if (heads && scene.look.quantity == Quantity::scores)
    return Error{name + " is recorded attention, which has weights and no scores: choose weights"};
  if (kind == PictureKind::mask) return Error{name + " is recorded attention, which says nothing of a mask"};
  if (kind == PictureKind::cache && (result.k.empty() || result.v.empty()))
    return Error{name + " is recorded attention without k and v: there is no cache to draw"};
  if (kind == PictureKind::cache) return cacheDrawing(scene, snapshot, options);
  if (kind == PictureKind::head)
    return headDrawing(scene, snapshot, pictureHead(scene, snapshot.config.heads), options);
  return headsDrawing(scene, snapshot, options);
}

}  // namespace

PictureKind shownPicture(const Scene& scene) {
  if (scene.cursor.page == "mask") return PictureKind::mask;
  if (scene.cursor.page == "map") return PictureKind::map;
  if (scene.cursor.page == "cache") return PictureKind::cache;
  if (scene.cursor.page == "cost") return PictureKind::cost;
  return scene.cursor.focus >= 0 ? PictureKind::head : PictureKind::heads;
}

Result<Drawing> drawPicture(PictureKind kind, const Scene& scene, const Snapshot* snapshot,
                            Resources& resources, const DrawingOptions& options) {
  const bool page = kind == PictureKind::page;
  if (page) kind = shownPicture(scene);
  if (kind == PictureKind::map) return drawMap(scene, resources, options);
  if (kind == PictureKind::cost) return drawCost(scene, options);
  if (const auto& opened = scene.setup.subject.opened; opened && opened->recorded)
    return drawRecorded(kind, scene, resources, options);
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
      if (scene.cursor.page != "cache") return cacheDrawing(scene, *snapshot, options);
      if (scene.cursor.cacheView == CacheView::growth) return growthDrawing(scene, *snapshot, options);
      return cacheViewDrawing(scene, *snapshot, resources, options);
    case PictureKind::head:
      return withCache(headDrawing(scene, *snapshot, head, options));
    case PictureKind::heads:
    case PictureKind::page:
    case PictureKind::map:
    case PictureKind::cost:
      break;
  }
  return withCache(headsDrawing(scene, *snapshot, options));
}

}  // namespace headscope::app
