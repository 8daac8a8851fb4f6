#include "app/compute/figures/scene_picture.h"

#include <algorithm>
#include <optional>

#include "app/compute/figures/answer_figures.h"
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
  if (!*built) return Error{"no tokens: there is nothing to draw"};
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
  if (kind == PictureKind::mask) return Error{name + " is recorded attention, which contains no mask"};
  if (kind == PictureKind::cache && (result.k.empty() || result.v.empty()))
    return Error{name + " is imported attention without k and v, so there is no cache to draw"};
  if (kind == PictureKind::cache) return cacheDrawing(scene, snapshot, options);
  if (kind == PictureKind::head)
    return headDrawing(scene, snapshot, pictureHead(scene, snapshot.config.heads), options);
  return headsDrawing(scene, snapshot, options);
}

}  // namespace

namespace {

/// A grid or bars as large as they need, on a page of that look.
Drawing framed(const Drawing& inner, const DrawingOptions& options) {
  Drawing page;
  page.background = drawingColors(options.dark).background;
  page.title = inner.title;
  page.width = inner.width + 2 * kMargin;
  page.height = inner.height + 2 * kMargin;
  page.add(inner, kMargin, kMargin);
  return page;
}

Result<Drawing> drawPair(PictureKind kind, const Scene& scene, Resources& resources,
                         const DrawingOptions& options) {
  auto studied = studyPair(pairQuestion(scene), resources, {});
  if (!studied) return studied.error();
  const auto pair = std::make_shared<const PairStudy>(*std::move(studied));
  const DrawingColors& colors = drawingColors(options.dark);
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
        options);
  }
  if (kind == PictureKind::attribution) {
    const auto study = studyAttribution({pair}, {});
    if (!study) return study.error();
    const BarFigure figure = attributionFigure(*pair, *study, scene.cursor.model.byKey, word);
    return framed(barDrawing(figure, 860,
                             90 + (figure.two ? 30.0 : 22.0) *
                                      static_cast<double>(std::min<std::size_t>(figure.bars.size(), 30) + 2),
                             colors),
                  options);
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
  return framed(stacked(grids), options);
}

Result<Drawing> drawModel(const Scene& scene, Resources& resources, const DrawingOptions& options) {
  ModelRunner runner;
  const auto study = runner.run(modelQuestion(scene.setup, scene.cursor.sequence), resources, {}, {});
  if (!study) return study.error();
  if (study->tokens() == 0) return Error{"no tokens: there is nothing to draw"};
  return modelDrawing(*study, scene.look.labelThreshold, scene.look.colormap, drawingColors(options.dark));
}

}  // namespace

PictureKind shownPicture(const Scene& scene) {
  if (scene.cursor.page == "mask") return PictureKind::mask;
  if (scene.cursor.page == "map") return PictureKind::map;
  if (scene.cursor.page == "cache") return PictureKind::cache;
  if (scene.cursor.page == "cost") return PictureKind::cost;
  return scene.cursor.focus >= 0 ? PictureKind::head : PictureKind::heads;
}

bool hasFigure(const Scene& scene) {
  constexpr std::array<std::string_view, 5> kPages{"heads", "mask", "map", "cache", "cost"};
  return std::ranges::find(kPages, scene.cursor.page) != kPages.end();
}

Result<Drawing> drawPicture(PictureKind kind, const Scene& scene, const Snapshot* snapshot,
                            Resources& resources, const DrawingOptions& options) {
  const bool page = kind == PictureKind::page;
  if (page) kind = shownPicture(scene);
  if (kind == PictureKind::map) return drawMap(scene, resources, options);
  if (kind == PictureKind::cost) return drawCost(scene, options);
  if (isOfModel(kind) && !scene.setup.subject.opened && !isStack(scene.setup))
    return Error{"the scene has no model: name a model's folder, or learned"};
  if (kind == PictureKind::model) return drawModel(scene, resources, options);
  if (isOfModel(kind)) return drawPair(kind, scene, resources, options);
  if (const auto& opened = scene.setup.subject.opened; opened && opened->recorded)
    return drawRecorded(kind, scene, resources, options);
  if (!snapshot) return Error{"nothing is computed yet: there is nothing to draw"};
  if (snapshot->error) return Error{snapshot->error->message};
  if (snapshot->sequences.empty()) return Error{"no tokens: there is nothing to draw"};
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
    case PictureKind::model:
    case PictureKind::patch:
    case PictureKind::attribution:
    case PictureKind::lens:
      break;
  }
  return withCache(headsDrawing(scene, *snapshot, options));
}

}  // namespace headscope::app
