#include "app/compute/figures/scene_picture.h"

#include <algorithm>

#include "app/compute/figures/answer_figures.h"
#include "app/compute/figures/drawing_parts.h"
#include "app/scene/models/open_model.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

/// A grid or bars as large as they need, on a page of that look.
Drawing framed(const Drawing& inner, bool dark) {
  Drawing page;
  page.background = drawingColors(dark).background;
  page.title = inner.title;
  page.width = inner.width + 2 * kMargin;
  page.height = inner.height + 2 * kMargin;
  page.add(inner, kMargin, kMargin);
  return page;
}

Result<Drawing> drawPair(PictureKind kind, const Scene& scene, Resources& resources, bool dark) {
  auto studied = studyPair(pairQuestion(scene), resources, {});
  if (!studied) return studied.error();
  const auto pair = std::make_shared<const PairStudy>(*std::move(studied));
  const DrawingColors& colors = drawingColors(dark);
  const WordOf word = [&](Index id) {
    return modelTokens(*pair->opened->tokenizer, std::span(&id, 1)).front().text;
  };
  const double tokens = static_cast<double>(pair->a.tokens());
  if (kind == PictureKind::lens) {
    const auto map = mapLens({pair, false}, {});
    if (!map) return map.error();
    return framed(
        gridDrawing(lensFigure({pair, false}, *map, word), 220 + 76 * tokens,
                    130 + 48 * static_cast<double>(pair->opened->config().layerCount() + 1), colors),
        dark);
  }
  if (kind == PictureKind::attribution) {
    const auto study = studyAttribution({pair}, {});
    if (!study) return study.error();
    const BarFigure figure = attributionFigure(*pair, *study, scene.cursor.model.byKey, word);
    return framed(barDrawing(figure, 860,
                             90 + (figure.two ? 30.0 : 22.0) *
                                      static_cast<double>(std::min<std::size_t>(figure.bars.size(), 30) + 2),
                             colors),
                  dark);
  }
  if (!pair->b) return Error{"compare.text is empty, expected a second text to patch from"};
  const PatchSides sides{pair, scene.compare.intoA};
  std::vector<Drawing> grids;
  for (const bool byToken : {false, true}) {
    const PatchGridQuestion question{
        sides, byToken ? scene.cursor.model.tokenPiece : scene.cursor.model.piece, byToken};
    const auto grid = computePatchGrid(
        question, [] { return Index{0}; }, [](const PatchGrid&) {}, {});
    if (!grid) return grid.error();
    const GridFigure figure = patchFigure(question, *grid, scene.compare.patches);
    const double wide = 200 + 56 * static_cast<double>(question.columns());
    grids.push_back(
        gridDrawing(figure, std::max(wide, 720.0), 150 + 30 * static_cast<double>(question.rows()), colors));
  }
  return framed(stacked(grids), dark);
}

/// What attention that another program recorded can't show.
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

Result<Drawing> drawModel(const Scene& scene, Resources& resources, bool dark) {
  ModelRunner runner;
  const auto study = runner.run(modelQuestion(scene.setup, scene.cursor.sequence), resources, {}, {});
  if (!study) return study.error();
  if (study->tokens() == 0) return Error{"no tokens: there is nothing to draw"};
  return modelDrawing(*study, scene.look.labelThreshold, scene.look.colormap, drawingColors(dark));
}

}  // namespace

Result<Scene> paintedScene(PictureKind kind, Scene scene) {
  if (const auto status = checkRecorded(kind, scene); !status) return status.error();
  if (kind == PictureKind::page) return scene;
  Cursor& cursor = scene.cursor;
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

Result<Drawing> drawPicture(PictureKind kind, const Scene& scene, Resources& resources, bool dark) {
  if (!scene.setup.subject.opened && !isStack(scene.setup))
    return Error{"the scene has no model: name a model's folder, or learned"};
  return kind == PictureKind::model ? drawModel(scene, resources, dark)
                                    : drawPair(kind, scene, resources, dark);
}

}  // namespace headscope::app
