#include "app/commands/render_picture.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/commands/report.h"
#include "app/compute/figures/picture_file.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/compute/model/recorded_study.h"
#include "app/headless.h"
#include "app/pages/map/map_page.h"
#include "app/platform/address_space.h"
#include "app/scene/models/open_model.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

/// Options whose value is wrong whatever the scene. Written so that NaN is wrong too.
Result<PictureSize> sizeFrom(const PictureOptions& options) {
  PictureSize size;
  for (const auto& [text, length, name] : {std::tuple(&options.width, &size.width, "--width"),
                                           std::tuple(&options.height, &size.height, "--height")}) {
    if (!*text) continue;
    const Result<Length> parsed = parseLength(**text);
    if (!parsed) return Error{std::string(name) + ": " + parsed.error().message};
    *length = *parsed;
  }
  if (options.scale && (size.width || size.height))
    return Error{"--scale is given with --width or --height, expected one or the other"};
  size.scale = options.scale.value_or(1);
  if (!(size.scale >= 1 && size.scale <= 4))
    return Error{fmt::format("--scale is {:f}, expected 1 to 4 for a picture of this kind", size.scale)};
  size.dpi = options.dpi.value_or(size.dpi);
  if (!(size.dpi >= 36 && size.dpi <= 2400))
    return Error{fmt::format("--dpi is {:f}, expected 36 to 2400", size.dpi)};
  return size;
}

double aspectOf(const PictureSize& size, double otherwise) {
  if (!size.width || !size.height) return otherwise;
  const auto inches = [&](const Length& length) {
    return length.millimetres ? length.value / 25.4 : length.value / size.dpi;
  };
  return std::clamp(inches(*size.width) / inches(*size.height), 0.1, 10.0);
}

/// What was asked of the cursor and can't be in what was computed.
attention::Status checkStep(const Scene& scene, const Snapshot& snapshot) {
  const SequenceSnapshot* shown = shownSequence(scene, &snapshot);
  if (!scene.cursor.decoding || !shown) return attention::success();
  if (!snapshot.causal)
    return Error{
        "--step is given, but this scene can't be decoded step by step: expected causal self-attention"};
  if (scene.cursor.step > shown->queryLength)
    return Error{fmt::format("--step is {}, expected 1 to the {} tokens there are", scene.cursor.step,
                             shown->queryLength)};
  return attention::success();
}

/// The scene on the page that the figure is of.
Scene sceneFor(PictureKind kind, Scene scene) {
  Cursor& cursor = scene.cursor;
  if (kind == PictureKind::page) return scene;
  const Index head = std::max<Index>(0, cursor.focus >= 0 ? cursor.focus : cursor.cell.head);
  const std::string page(kind == PictureKind::head ? "heads" : kPictureNames[static_cast<std::size_t>(kind)]);
  if (page == "mask" && cursor.page != page) cursor.studio.tab = StudioTab::mask;
  if (page == "cache" && cursor.page != page) cursor.cacheView = CacheView::growth;
  cursor.page = page;
  cursor.cell.head = head;
  cursor.focus = kind == PictureKind::head ? head : -1;
  return scene;
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

/// Also of attention that another program recorded, which the window's pages have none of.
Snapshot anySnapshot(const Setup& setup, Resources& resources, std::stop_token stop) {
  const auto& opened = setup.subject.opened;
  return opened && opened->recorded ? recordedSnapshot(setup, resources, stop)
                                    : computeSnapshot(setup, resources, stop);
}

/// A picture as its page paints it.
Result<Drawing> paintedPicture(HeadlessApp& headless, PictureKind kind, const Scene& scene,
                               const PictureOptions& options, double aspect) {
  Session& session = headless.session();
  session.view().preferences.light = !options.dark;
  FigureView figure;
  figure.aspect = static_cast<float>(aspect);
  figure.alone = options.what != PictureKind::page;
  Result<Drawing> drawing = headless.figure(sceneFor(kind, scene), figure);
  if (!drawing) return drawing;
  const Snapshot* snapshot = session.snapshot();
  const auto& map = session.page<MapPage>().state().state;
  const bool ofLayer = kind != PictureKind::page && kind != PictureKind::map && kind != PictureKind::cost;
  if (ofLayer ? !snapshot || snapshot->sequences.empty() : kind == PictureKind::map && (!map || map->empty))
    return Error{"no tokens: there is nothing to draw"};
  return drawing;
}

/// What the page shows; below the heads it has the KV cache, where they have one.
Result<Drawing> drawnPicture(HeadlessApp& headless, const Scene& scene, const PictureOptions& options,
                             double aspect) {
  const bool page = options.what == PictureKind::page;
  const PictureKind kind = page ? shownPicture(scene) : options.what;
  if (const auto status = checkRecorded(kind, scene); !status) return status.error();
  Result<Drawing> drawing = paintedPicture(headless, kind, scene, options, aspect);
  if (!drawing || !page || (kind != PictureKind::head && kind != PictureKind::heads)) return drawing;
  if (!checkRecorded(PictureKind::cache, scene)) return drawing;
  const auto cache = paintedPicture(headless, PictureKind::cache, scene, options, aspect);
  return cache ? stacked({*drawing, *cache}) : drawing;
}

}  // namespace

int renderPicture(const Scene& scene, const PictureOptions& options) {
  const Result<PictureSize> size = sizeFrom(options);
  if (!size) return usage(size.error());
  if (const auto format = pictureFormat(options.output); !format) return usage(format.error());
  const MemoryBudget memory(defaultLimits().memoryBytes);
  Result<Drawing> drawing = Drawing();
  if (isOfModel(options.what)) {
    Resources resources(defaultLimits());
    drawing = drawPicture(options.what, scene, resources, options.dark);
  } else {
    requireAddressSpace();
    HeadlessApp headless(64, 64);
    headless.session().layer().computeWith(anySnapshot);
    drawing = drawnPicture(headless, scene, options, aspectOf(*size, FigureView().aspect));
    const Snapshot* snapshot = headless.session().snapshot();
    if (drawing && snapshot)
      if (const auto step = checkStep(scene, *snapshot); !step) return usage(step.error());
  }
  if (!drawing) return fail(drawing.error());
  const auto written = writePicture(options.output, *drawing, *size, memory);
  if (!written) return fail(written.error());
  InputCache inputs{memory};
  for (const std::string& note : maskFileNotes(scene.setup, inputs)) warn(note);
  return kExitDone;
}

}  // namespace headscope::app
