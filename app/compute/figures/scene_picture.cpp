#include "app/compute/figures/scene_picture.h"

#include <algorithm>

#include "app/scene/enum_names.h"
#include "app/scene/models/open_model.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

/// Returns an Error unless the scene has what a picture of a model needs.
attention::Status checkModel(PictureKind kind, const Scene& scene) {
  const auto& opened = scene.setup.subject.opened;
  if (!opened && !isStack(scene.setup))
    return Error{"the scene has no model: name a model's folder, or learned"};
  if (kind != PictureKind::model && (!opened || !opened->model))
    return Error{"this needs a model that predicts tokens, such as learned"};
  if (kind == PictureKind::patch && scene.compare.other.empty())
    return Error{"compare.text is empty, expected a second text to patch from"};
  return attention::success();
}

/// Returns an Error if recorded attention can't show the picture.
attention::Status checkRecorded(PictureKind kind, const Scene& scene) {
  const auto& opened = scene.setup.subject.opened;
  if (!opened || !opened->recorded) return attention::success();
  if (kind == PictureKind::mask)
    return Error{opened->name + " is recorded attention, which contains no mask"};
  const attention::RecordedLayer& layer = opened->recorded->layers().front();
  if (kind == PictureKind::cache && (!layer.k || !layer.v))
    return Error{opened->name + " is imported attention without k and v, so there is no cache to draw"};
  const bool heads = kind == PictureKind::head || kind == PictureKind::heads;
  if (heads && scene.look.quantity == Quantity::scores)
    return Error{opened->name + " is recorded attention, which has weights and no scores: choose weights"};
  return attention::success();
}

}  // namespace

Result<Scene> paintedScene(PictureKind kind, Scene scene) {
  if (const auto status = checkRecorded(kind, scene); !status) return status.error();
  if (kind == PictureKind::page) return scene;
  Cursor& cursor = scene.cursor;
  if (isOfModel(kind)) {
    if (const auto status = checkModel(kind, scene); !status) return status.error();
    const auto view = std::ranges::find(kModelViewNames, kPictureNames[static_cast<std::size_t>(kind)]);
    const auto at = view == kModelViewNames.end() ? 0 : view - kModelViewNames.begin();
    cursor.model.view = static_cast<ModelView>(at);
    cursor.page = "model";
    return scene;
  }
  const Index head = std::max<Index>(0, cursor.focus >= 0 ? cursor.focus : cursor.cell.head);
  const std::string page(kind == PictureKind::head ? "heads" : kPictureNames[static_cast<std::size_t>(kind)]);
  if (page == "mask" && cursor.page != page) cursor.studio.tab = StudioTab::mask;
  if (page == "cache" && cursor.page != page) cursor.cacheView = CacheView::growth;
  cursor.page = page;
  cursor.cell.head = head;
  cursor.focus = kind == PictureKind::head ? head : -1;
  return scene;
}

PictureKind shownPicture(const Scene& scene) {
  if (scene.cursor.page == "mask") return PictureKind::mask;
  if (scene.cursor.page == "map") return PictureKind::map;
  if (scene.cursor.page == "cache") return PictureKind::cache;
  if (scene.cursor.page == "cost") return PictureKind::cost;
  if (scene.cursor.page != "heads") return PictureKind::page;
  return scene.cursor.focus >= 0 ? PictureKind::head : PictureKind::heads;
}

}  // namespace headscope::app
